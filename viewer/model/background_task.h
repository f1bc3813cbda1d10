// SPDX-License-Identifier: Apache-2.0
// Work for a view that takes longer than a frame: it runs on a thread, and a later frame takes its answer.
//
//   frame     Start      Take -> nothing     Take -> nothing          Take -> the answer
//   thread      └────────────── work ────────────────────── wake ─────────┘
//
// Why not std::future alone: a future is ready only after its function has returned, and so after `wake`. The
// frame that `wake` asks for could then find no answer, and no other frame would follow. Here Take() has the
// answer as soon as `wake` is called: also in the page, where `wake` may draw that frame before it returns.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace vramscope::viewer {

// All functions are for one thread, the one that draws. What the work reads must outlive the task, or its
// next Drop or Start.
template <typename Answer>
class BackgroundTask {
 public:
  BackgroundTask() = default;
  BackgroundTask(BackgroundTask&&) noexcept = default;
  BackgroundTask& operator=(BackgroundTask&& other) noexcept {
    Drop();
    state_ = std::move(other.state_);
    done_ = std::move(other.done_);
    return *this;
  }
  ~BackgroundTask() { Drop(); }

  // Runs `work()`, or `work(stop)`, on a thread; work that takes `stop` should return soon after it became
  // true. Drops an earlier task first. The thread calls `wake` when the answer is there.
  template <typename Work>
  void Start(const std::function<void()>& wake, Work work) {
    Drop();
    state_ = std::make_shared<State>();
    done_ = std::async(std::launch::async, [state = state_, wake, work = std::move(work)] {
      const Finish finish{*state, wake};
      if constexpr (std::is_invocable_v<const Work&, const std::atomic<bool>&>) {
        state->answer.emplace(work(state->stop));
      } else {
        state->answer.emplace(work());
      }
    });
  }
  // The answer, once; nothing before it is there, and nothing if the task was canceled. Rethrows what the
  // work has thrown.
  [[nodiscard]] std::optional<Answer> Take() {
    if (!busy() || !state_->finished) return std::nullopt;
    done_.get();
    std::optional<Answer> answer = std::exchange(state_->answer, std::nullopt);
    return cancelled() ? std::nullopt : std::move(answer);
  }
  // The running task will have no answer. Does not wait: it is busy until a Take after its end.
  void Cancel() {
    if (busy()) state_->stop = true;
  }
  // Cancels the task and waits for its thread. In the page, work that has not begun never runs.
  void Drop() {
    Cancel();
    done_ = {};  // waits: the future is std::async's
    state_.reset();
  }

  // True from Start until Take has returned the answer, or a canceled task has ended.
  [[nodiscard]] bool busy() const { return done_.valid(); }
  // True from Cancel until the next Start or Drop.
  [[nodiscard]] bool cancelled() const { return state_ != nullptr && state_->stop; }

 private:
  struct State {
    std::atomic<bool> stop = false;
    std::atomic<bool> finished = false;
    std::optional<Answer> answer;
  };
  // Also runs if the work throws.
  struct Finish {
    State& state;
    const std::function<void()>& wake;
    ~Finish() {
      state.finished = true;
      wake();
    }
  };

  std::shared_ptr<State> state_;  // of the last task
  std::future<void> done_;
};

// The answer about one subject at a time, such as a device, computed by a task when the subject changes. `Key`
// identifies the subject.
template <typename Key, typename Answer>
class BackgroundAnswer {
 public:
  // Call once per frame. Starts `work` for a new key, and takes a finished answer; true if it took one.
  template <typename Work>
  bool Update(const Key& key, const std::function<void()>& wake, Work work) {
    if (key_ != key) {
      if (key_) Clear();
      key_ = key;
      task_.Start(wake, std::move(work));
    }
    std::optional<Answer> taken = task_.Take();
    if (!taken) return false;
    answer_.emplace(std::move(*taken));
    return true;
  }
  // Forgets the key; call before the subject is destroyed. Waits for the thread. The answer stays until the
  // next one is there, for a file that has grown.
  void Forget() {
    task_.Drop();
    key_.reset();
  }
  // Also forgets the answer.
  void Clear() {
    Forget();
    answer_.reset();
  }
  [[nodiscard]] bool busy() const { return task_.busy(); }
  // Nothing while the first one is computed, or the one for another key.
  [[nodiscard]] const std::optional<Answer>& answer() const { return answer_; }

 private:
  std::optional<Key> key_;
  std::optional<Answer> answer_;
  BackgroundTask<Answer> task_;
};

}  // namespace vramscope::viewer
