// SPDX-License-Identifier: Apache-2.0
// Work that takes longer than a frame: it runs on a thread, and a later frame takes its answer.
//
//   frame     Start      Take -> nothing     Take -> nothing          Take -> the answer
//   thread      └────────────── work ────────────────────── wake ─────────┘
//
// Take() has the answer as soon as `wake` is called, also in the page. A std::future is ready only after
// `wake`.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace vramscope::viewer {

// All functions are for the thread that draws. Data that the work reads must outlive the task, or its next
// Drop or Start.
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

  // Runs `work()`, or `work(stop)`, on a thread. The work should return soon after `stop` became true. Drops
  // an earlier task first. The thread calls `wake` with the answer.
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
  // Returns the answer once; nothing before it is ready, or if canceled. Rethrows the work's exception.
  [[nodiscard]] std::optional<Answer> Take() {
    if (!busy() || !state_->finished) return std::nullopt;
    done_.get();
    std::optional<Answer> answer = std::exchange(state_->answer, std::nullopt);
    return cancelled() ? std::nullopt : std::move(answer);
  }
  // Cancels without waiting. busy() is true until a Take after the task's end.
  void Cancel() {
    if (busy()) state_->stop = true;
  }
  // Cancels the task and waits for its thread. In the page, unstarted work never runs.
  void Drop() {
    Cancel();
    done_ = {};  // waits: the future is std::async's
    state_.reset();
  }

  // True from Start until Take returned the answer, or a canceled task has ended.
  [[nodiscard]] bool busy() const { return done_.valid(); }
  // True from Cancel until the next Start or Drop.
  [[nodiscard]] bool cancelled() const { return state_ != nullptr && state_->stop; }

 private:
  struct State {
    std::atomic<bool> stop = false;
    std::atomic<bool> finished = false;
    std::optional<Answer> answer;
  };
  // Also runs after an exception.
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

// An answer about one subject, such as a device. A task computes it when the subject (`Key`) changes.
template <typename Key, typename Answer>
class BackgroundAnswer {
 public:
  // Call once per frame. Starts `work` for a new key. True if it took an answer.
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
  // Forgets the key; call before the subject is destroyed. Waits for the thread. The old answer stays
  // until there is a new one: the file may only have grown.
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
  // Nothing while the first answer, or one for another key, is computed.
  [[nodiscard]] const std::optional<Answer>& answer() const { return answer_; }

 private:
  std::optional<Key> key_;
  std::optional<Answer> answer_;
  BackgroundTask<Answer> task_;
};

}  // namespace vramscope::viewer
