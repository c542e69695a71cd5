// Ranks: processes, or threads of one, that compute together through c10d, which libtorch has
// inside. Gloo carries what lies on processors; what lies on a GPU goes by way of them.
//
// When one of them dies, hangs or fails, the collective operation of the others ends with an error
// of Gloo that speaks of sockets. So each rank says from time to time in the common store that it
// is alive, and how many collective operations it has come to; an error is told with the ranks that
// the store shows to be its reason.

#define USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <c10/util/Logging.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "distributed/process_group.h"

namespace saccade {
namespace {

using at::Tensor;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using Store = c10::intrusive_ptr<c10d::Store>;

// Before what a user is to read, up to the end of the line.
constexpr const char* TOLD = "ranks: ";

// What is summed at a time: smaller ones wait for one another, larger ones for the last gradient.
constexpr size_t BUCKET = size_t{25} << 20;

// Where tensors of a bucket begin, in bytes, as vectors want it.
constexpr int64_t ALIGNMENT = 64;

constexpr milliseconds BEAT{500};
// So long a rank may be silent and count as alive.
constexpr milliseconds SILENCE{4 * BEAT};
// So long rank 0, who has the store, waits for the others to read there what has happened.
constexpr milliseconds FAREWELL{3 * SILENCE};

std::string text(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

std::string ranks(const std::vector<int>& who) {
  std::string list = who.size() > 1 ? "ranks " : "rank ";
  for (size_t i = 0; i < who.size(); ++i) list += (i == 0 ? "" : ", ") + std::to_string(who[i]);
  return list;
}

struct Address {
  std::string host;
  int64_t port;
  std::string own;  // of this machine, as the others see it
};

class Rank {
 public:
  Rank(const Address& address, int rank, int world, milliseconds timeout)
      : rank_(rank), world_(world) {
    store_ = connect(address, rank == 0, timeout);
    meet(timeout);
    group_ = gloo(address, timeout);
    beats_ = connect(address, false, timeout);
    beat();
    heart_ = std::thread([this] { live(); });
  }

  ~Rank() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    heart_.join();
  }

  int world() const { return world_; }

  // Lets others find the group by a name, who may add to it what carries other devices.
  void enter(const std::string& name) const { c10d::register_process_group(name, group_); }

  // Goes; the others are told why, if there is a reason.
  void leave(const std::string& reason) {
    try {
      if (!reason.empty()) store_->set(key("failed", rank_), reason);
      store_->set(key("left", rank_), "");
      group_.reset();  // whoever waits for this one learns of it
      std::vector<std::string> others;
      for (int r = 1; rank_ == 0 && r < world_; ++r) others.push_back(key("left", r));
      if (!others.empty()) store_->wait(others, FAREWELL);
    } catch (const std::exception&) {
      // A rank is gone without a word: there is nobody to tell, or to wait for.
    }
  }

  // Does what all ranks do.
  template <class Collective>
  void together(const Collective& collective) {
    ++come_to_;
    try {
      collective(*group_);
    } catch (const std::exception& e) {
      TORCH_CHECK(false, TOLD, reason(e));
    }
  }

 private:
  static std::string key(const char* what, int rank) {
    return std::string(what) + "/" + std::to_string(rank);
  }

  Store connect(const Address& address, bool serves, milliseconds timeout) const {
    c10d::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(address.port);
    options.isServer = serves;
    options.waitWorkers = false;
    options.timeout = timeout;
    try {
      return c10::make_intrusive<c10d::TCPStore>(address.host, options);
    } catch (const std::exception& e) {
      const std::string place = address.host + ":" + std::to_string(address.port);
      TORCH_CHECK(!serves, TOLD, "cannot wait for the other ranks on ", place, ": ", brief(e));
      TORCH_CHECK(false, TOLD, "rank 0 does not answer on ", place, ": ", brief(e));
    }
  }

  // Waits until all have come.
  void meet(milliseconds timeout) {
    const auto end = Clock::now() + timeout;
    store_->set(key("here", rank_), "");
    std::vector<int> missing;
    for (int r = 0; r < world_; ++r) {
      const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
      try {
        store_->wait({key("here", r)}, std::max(left, milliseconds(10)));
      } catch (const std::exception&) {
        missing.push_back(r);
      }
    }
    TORCH_CHECK(missing.empty(), TOLD, ranks(missing), " of ", world_, " did not come within ",
                timeout.count() / 1000.0, " s");
  }

  c10::intrusive_ptr<c10d::ProcessGroup> gloo(const Address& address, milliseconds timeout) {
    auto options = c10d::ProcessGroupGloo::Options::create(timeout);
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(address.own));
    options->threads = 2;
    auto store = c10::make_intrusive<c10d::PrefixStore>("gloo", store_);
    auto group = c10::make_intrusive<c10d::ProcessGroup>(store, rank_, world_);
    group->setDefaultBackend(c10d::ProcessGroup::BackendType::GLOO);
    c10::intrusive_ptr<c10d::Backend> backend;
    try {
      backend = c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank_, world_, options);
    } catch (const std::exception& e) {
      TORCH_CHECK(false, TOLD, "the ranks cannot reach one another, this one from ", address.own,
                  ": ", brief(e));
    }
    group->setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::BackendType::GLOO, backend);
    return group;
  }

  void beat() {
    beats_->set(key("alive", rank_), std::to_string(++count_) + " " + std::to_string(come_to_));
  }

  void live() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!changed_.wait_for(lock, BEAT, [this] { return ends_; })) {
      try {
        beat();
      } catch (const std::exception&) {
        return;  // the store is gone, and with it rank 0: the next collective operation tells
      }
    }
  }

  static std::string brief(const std::exception& e) {
    const std::string what = e.what();
    return what.substr(0, what.find('\n'));
  }

  // What the store shows of the others when a collective operation has failed.
  std::string reason(const std::exception& e) {
    std::vector<int> silent, behind, left;
    std::string told;
    try {
      std::vector<std::string> first(world_);
      for (int r = 0; r < world_; ++r) first[r] = text(store_->get(key("alive", r)));
      std::this_thread::sleep_for(SILENCE);
      for (int r = 0; r < world_; ++r) {
        if (r == rank_) continue;
        if (store_->check({key("failed", r)})) {
          told += (told.empty() ? "" : "; ") + ("rank " + std::to_string(r)) +
                  " has ended: " + text(store_->get(key("failed", r)));
          continue;
        }
        if (store_->check({key("left", r)})) {
          left.push_back(r);
          continue;
        }
        const std::string now = text(store_->get(key("alive", r)));
        if (now == first[r]) {
          silent.push_back(r);
        } else if (std::stoll(now.substr(now.find(' '))) < come_to_) {
          behind.push_back(r);
        }
      }
    } catch (const std::exception&) {
      return "rank 0 does not answer any more";
    }
    if (!told.empty()) return told;
    if (!silent.empty()) return ranks(silent) + " did not answer any more";
    if (!behind.empty()) return ranks(behind) + " did not come to what all ranks do together";
    if (!left.empty()) return ranks(left) + " left before the others";
    return "the ranks do not do the same, or wait too long for one another: " + brief(e);
  }

  const int rank_, world_;
  Store store_, beats_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  std::atomic<int64_t> come_to_{0};
  int64_t count_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::thread heart_;
};

std::mutex mutex;
std::map<std::string, std::shared_ptr<Rank>> members;

std::shared_ptr<Rank> member(const std::string& name) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = members.find(name);
  TORCH_CHECK(found != members.end(), "saccade: ", name, " is no member of a group");
  return found->second;
}

// Joins a group; returns when all ranks have. A name is one rank's: several may be in a process.
Tensor& join(Tensor& token, const std::string& name, const std::string& host, int64_t port,
             double seconds, const std::string& own, int64_t rank, int64_t world) {
  // What c10d would log of sockets, with stacks, the errors here tell by themselves.
  FLAGS_caffe2_log_level = c10::GLOG_FATAL;
  const auto timeout = milliseconds(static_cast<int64_t>(1000 * seconds));
  auto joined = std::make_shared<Rank>(Address{host, port, own}, static_cast<int>(rank),
                                       static_cast<int>(world), timeout);
  joined->enter(name);
  std::lock_guard<std::mutex> lock(mutex);
  members[name] = std::move(joined);
  return token;
}

Tensor& leave(Tensor& token, const std::string& name, const std::string& reason) {
  const std::shared_ptr<Rank> leaving = member(name);
  {
    std::lock_guard<std::mutex> lock(mutex);
    members.erase(name);
  }
  c10d::unregister_process_group(name);
  leaving->leave(reason);
  return token;
}

// The numbers of a tensor where the group can take them: on processors, and on GPUs by NCCL.
Tensor carried(const Tensor& x, const c10d::ProcessGroup& group) {
  for (const c10::Device& device : group.getDeviceTypes()) {
    if (device.type() == x.device().type()) return x;
  }
  return x.cpu();
}

// Tensors that lie behind one another while they are under way.
struct Bucket {
  Tensor flat;
  std::vector<Tensor> carried;  // the same numbers where the group can take them
  c10::intrusive_ptr<c10d::Work> work;
};

// Where the bucket ends that begins with a tensor, by an order that is the same on all ranks.
size_t end_of_bucket(at::TensorList tensors, size_t first) {
  size_t bytes = 0, end = first;
  do {
    bytes += tensors[end++].nbytes();
  } while (end < tensors.size() && bytes + tensors[end].nbytes() <= BUCKET &&
           tensors[end].options().type_equal(tensors[first].options()));
  return end;
}

// How far behind a tensor the next one begins.
int64_t room(const Tensor& x) {
  const int64_t step = ALIGNMENT / x.element_size();
  return (x.numel() + step - 1) / step * step;
}

// A part of a bucket that lies there as a tensor does.
Tensor place(const Tensor& flat, int64_t at, const Tensor& like) {
  return like.is_non_overlapping_and_dense()
             ? flat.as_strided(like.sizes(), like.strides(), at)
             : flat.narrow(0, at, like.numel()).view(like.sizes());
}

// Gives the sums over the ranks, which lie in memory as others do; empty ones count as zeros.
std::vector<Tensor> all_reduce(at::TensorList tensors, at::TensorList like,
                               const std::string& name) {
  TORCH_CHECK(tensors.size() == like.size(), "saccade::all_reduce: ", tensors.size(),
              " tensors for ", like.size());
  std::vector<Tensor> sums;
  member(name)->together([&](c10d::ProcessGroup& group) {
    std::vector<Bucket> buckets;
    for (size_t i = 0; i < like.size();) {
      const size_t end = end_of_bucket(like, i);
      int64_t length = 0, at = 0;
      for (size_t j = i; j < end; ++j) length += room(like[j]);
      const Tensor flat = at::empty({length}, like[i].options());
      for (; i < end; at += room(like[i++])) {
        sums.push_back(place(flat, at, like[i]));
        if (tensors[i].numel() > 0) {
          sums.back().copy_(tensors[i]);
        } else {
          sums.back().zero_();
        }
      }
      buckets.push_back({flat, {carried(flat, group)}, {}});
      buckets.back().work = group.allreduce(buckets.back().carried);
    }
    for (const Bucket& bucket : buckets) {
      bucket.work->wait();
      if (!bucket.carried[0].is_same(bucket.flat)) bucket.flat.copy_(bucket.carried[0]);
    }
  });
  return sums;
}

void broadcast_(at::TensorList tensors, int64_t root, const std::string& name) {
  c10d::BroadcastOptions options;
  options.rootRank = root;
  member(name)->together([&](c10d::ProcessGroup& group) {
    for (const Tensor& tensor : tensors) {
      std::vector<Tensor> rows{carried(tensor, group).contiguous()};
      group.broadcast(rows, options)->wait();
      if (!rows[0].is_same(tensor)) tensor.copy_(rows[0]);
    }
  });
}

Tensor& barrier(Tensor& token, const std::string& name) {
  member(name)->together([](c10d::ProcessGroup& group) { group.barrier()->wait(); });
  return token;
}

}  // namespace

void all_reduce_(at::TensorList tensors, const std::string& name) {
  const std::vector<Tensor> sums = all_reduce(tensors, tensors, name);
  for (size_t i = 0; i < sums.size(); ++i) tensors[i].copy_(sums[i]);
}

Tensor all_gather(const Tensor& x, const std::string& name) {
  const std::shared_ptr<Rank> me = member(name);
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.insert(sizes.begin(), me->world());
  Tensor all;
  me->together([&](c10d::ProcessGroup& group) {
    std::vector<Tensor> one{carried(x, group).contiguous()};
    all = at::empty(sizes, one[0].options());
    std::vector<std::vector<Tensor>> parts{all.unbind(0)};
    group.allgather(parts, one)->wait();
  });
  return all.to(x.device());
}

TORCH_LIBRARY_FRAGMENT(saccade, m) {
  m.def(
      "join_group(Tensor(a!) token, str name, str host, int port, float seconds, str own, "
      "int rank, int world) -> Tensor(a!)",
      join);
  m.def("leave_group(Tensor(a!) token, str name, str reason) -> Tensor(a!)", leave);
  m.def("all_reduce_(Tensor(a!)[] tensors, str name) -> ()");
  m.def("all_reduce(Tensor[] tensors, Tensor[] like, str name) -> Tensor[]");
  m.def("broadcast_(Tensor(a!)[] tensors, int root, str name) -> ()");
  m.def("all_gather(Tensor x, str name) -> Tensor");
  m.def("barrier(Tensor(a!) token, str name) -> Tensor(a!)", barrier);
}
TORCH_LIBRARY_IMPL(saccade, CompositeExplicitAutograd, m) {
  m.impl("all_reduce_", all_reduce_);
  m.impl("all_reduce", all_reduce);
  m.impl("broadcast_", broadcast_);
  m.impl("all_gather", all_gather);
}

}  // namespace saccade
