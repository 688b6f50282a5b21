#pragma once

/// Every merge method, and the blocks to make others of.

#include <plait/merge/arcee_fusion.hpp>
#include <plait/merge/average.hpp>
#include <plait/merge/breadcrumbs.hpp>
#include <plait/merge/composition.hpp>
#include <plait/merge/consensus.hpp>
#include <plait/merge/coordinate_median.hpp>
#include <plait/merge/dare.hpp>
#include <plait/merge/della.hpp>
#include <plait/merge/emr.hpp>
#include <plait/merge/karcher.hpp>
#include <plait/merge/magmax.hpp>
#include <plait/merge/model_stock.hpp>
#include <plait/merge/multislerp.hpp>
#include <plait/merge/nearswap.hpp>
#include <plait/merge/nuslerp.hpp>
#include <plait/merge/passthrough.hpp>
#include <plait/merge/ram.hpp>
#include <plait/merge/ramplus.hpp>
#include <plait/merge/rank_bernoulli.hpp>
#include <plait/merge/sce.hpp>
#include <plait/merge/slerp.hpp>
#include <plait/merge/sparsify.hpp>
#include <plait/merge/task_arithmetic.hpp>
#include <plait/merge/ties.hpp>
#include <plait/merge/trimmed_mean.hpp>
