// SPDX-License-Identifier: Apache-2.0
// Runs work that takes longer than a frame on a background thread. A later frame takes the answer.
//
//   frame     Start      Take -> nothing     Take -> nothing          Take -> the answer
//   thread      └────────────── work ────────────────────── wake ─────────┘
//
// After the thread has called `wake`, Take() returns the answer. This is also true in the web page. A
// std::future could be ready only after `wake` has returned.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace vramscope::viewer {

// All functions must be called on the thread that draws. Data that the work reads must live until the task is
// destroyed, or until the next Drop() or Start().
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

  // Runs `work()` or `work(stop)` on a thread. If `stop` becomes true, the work should return soon. The
  // thread calls `wake` when the answer is ready. An earlier task is dropped first.
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
  // Returns the answer once. Returns nullopt before the answer is ready, and if the task was canceled.
  // Rethrows an exception of the work.
  [[nodiscard]] std::optional<Answer> Take() {
    if (!busy() || !state_->finished) return std::nullopt;
    done_.get();
    std::optional<Answer> answer = std::exchange(state_->answer, std::nullopt);
    return cancelled() ? std::nullopt : std::move(answer);
  }
  // Cancels the task without waiting. busy() stays true until a Take() after the end of the task.
  void Cancel() {
    if (busy()) state_->stop = true;
  }
  // Cancels the task and waits for its thread. In the web page, work that has not started never runs.
  void Drop() {
    Cancel();
    done_ = {};  // waits: the future is std::async's
    state_.reset();
  }

  // True from Start() until Take() has returned the answer or has found that the canceled task ended.
  [[nodiscard]] bool busy() const { return done_.valid(); }
  // True from Cancel() until the next Start() or Drop().
  [[nodiscard]] bool cancelled() const { return state_ != nullptr && state_->stop; }

 private:
  struct State {
    std::atomic<bool> stop = false;
    std::atomic<bool> finished = false;
    std::optional<Answer> answer;
  };
  // Reports the end of the work. The destructor also runs after an exception.
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

// An answer about one subject, such as a device. `Key` identifies the subject. When the key changes, a task
// computes a new answer.
template <typename Key, typename Answer>
class BackgroundAnswer {
 public:
  // Call once per frame. Starts `work` if the key is new. True if a new answer has arrived.
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
  // Drops the task and its key, and waits for the thread. Call before the subject is destroyed. The old
  // answer stays until there is a new answer, because the new subject may be the same file after it has
  // grown.
  void Forget() {
    task_.Drop();
    key_.reset();
  }
  // Like Forget(), but also deletes the answer.
  void Clear() {
    Forget();
    answer_.reset();
  }
  [[nodiscard]] bool busy() const { return task_.busy(); }
  // Returns nullopt while the first answer is computed, or the answer for another key.
  [[nodiscard]] const std::optional<Answer>& answer() const { return answer_; }

 private:
  std::optional<Key> key_;
  std::optional<Answer> answer_;
  BackgroundTask<Answer> task_;
};

}  // namespace vramscope::viewer
