#pragma once

/// Everything but files (<plait/io/io.hpp>) and adapters to other libraries (<plait/adapters/...>).

#include <plait/align/align.hpp>
#include <plait/align/permute.hpp>
#include <plait/align/weight_matching.hpp>
#include <plait/analysis/self_check.hpp>
#include <plait/config.hpp>
#include <plait/core/dtype.hpp>
#include <plait/core/error.hpp>
#include <plait/core/tensor_view.hpp>
#include <plait/fuse/fuse.hpp>
#include <plait/fuse/greedy_soup.hpp>
#include <plait/fuse/merge.hpp>
#include <plait/fuse/verify.hpp>
#include <plait/match/greedy.hpp>
#include <plait/match/hungarian.hpp>
#include <plait/match/sinkhorn.hpp>
#include <plait/merge/methods.hpp>
#include <plait/merge/weight_space.hpp>
#include <plait/model/model.hpp>
#include <plait/model/model_view.hpp>
#include <plait/permutation/permutation.hpp>
#include <plait/spec/bind.hpp>
#include <plait/spec/permutation_spec.hpp>
#include <plait/spec/spec_text.hpp>
#include <plait/version.hpp>
