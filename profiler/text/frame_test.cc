// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/frame.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace vramscope::text {
namespace {

std::string Telling(const std::vector<std::string_view>& innermost_first) {
  return std::string(TellingFrame(innermost_first));
}

TEST(FrameTest, TheProgramsOwnLineStandsForAStackOnLinuxAndWindows) {
  EXPECT_EQ(Telling({"torch::unwind::unwind()", "c10::cuda::malloc", "at::native::mm",
                     "linear (/usr/lib/python3/site-packages/torch/nn/functional.py:10)",
                     "generate (/venv/lib/python3.11/site-packages/transformers/x.py:7)",
                     "forward (/src/model.py:7)", "main (/src/train.py:1)"}),
            "forward (/src/model.py:7)");
  EXPECT_EQ(Telling({"convert (C:\\Python311\\Lib\\site-packages\\torch\\nn\\modules\\module.py:1357)",
                     "run (C:\\Python311\\Lib\\threading.py:870)", "main (C:\\proj\\train.py:12)"}),
            "main (C:\\proj\\train.py:12)");
  EXPECT_EQ(Telling({"run (/usr/lib/python3.11/threading.py:975)", "C:\\proj\\lib\\model.py:5 forward"}),
            "C:\\proj\\lib\\model.py:5 forward");
  EXPECT_EQ(Telling({"f (<eval_with_key>.3:8)", "<module> (/data/torch/train.py:3)"}),
            "<module> (/data/torch/train.py:3)");
  EXPECT_EQ(Telling({"forward (/src/pytorch/torch/nn/modules/linear.py:134)", "<module> (<string>:1)"}),
            "<module> (<string>:1)");
  EXPECT_EQ(
      Telling({"step (/tmp/ipykernel_7/99.py:2)", "f (/venv/lib/python3.11/site-packages/IPython/x.py:3)"}),
      "step (/tmp/ipykernel_7/99.py:2)");
}

TEST(FrameTest, SourcesOfPyTorchWithoutAFolderAreNotTheProgram) {
  EXPECT_EQ(Telling({"at::(anonymous namespace)::create_out(c10::ArrayRef<long>) (RegisterCUDA_0.cpp:0)",
                     "forward (/src/model.py:101)"}),
            "forward (/src/model.py:101)");
}

TEST(FrameTest, WithoutALineOfTheProgramALibrarysIsNamedThenTheNodeThenTheOperator) {
  EXPECT_EQ(Telling({"linear (/v/lib/python3.11/site-packages/torch/nn/functional.py:10)",
                     "train (/v/lib/python3.11/site-packages/transformers/trainer.py:7)",
                     "<module> (/v/bin/torchrun:8)", "_run (<frozen runpy>:88)"}),
            "train (/v/lib/python3.11/site-packages/transformers/trainer.py:7)");
  EXPECT_EQ(
      Telling(
          {"at::detail::empty_cuda()", "at::_ops::mm::call(at::Tensor const&)",
           "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&) (libtorch_cpu.so+0x3)",
           "torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)",
           "clone3 (libc.so.6+0x2)"}),
      "MmBackward0");
  EXPECT_EQ(Telling({"torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)"}), "AccumulateGrad");
  EXPECT_EQ(
      Telling({"torch::unwind::unwind() (/v/site-packages/torch/lib/libtorch_cpu.so:1081)",
               "at::detail::empty_cuda(c10::ArrayRef<long>) (/v/site-packages/torch/lib/libtorch_cuda.so:5)",
               "at::_ops::mm::call(at::Tensor const&, at::Tensor const&) (/v/torch/lib/libtorch_cpu.so:451)",
               "_PyEval_EvalFrameDefault (/usr/local/lib/libpython3.11.so.1.0:1038786)"}),
      "at::_ops::mm::call");
  EXPECT_EQ(Telling({"c10::cuda::CUDACachingAllocator::malloc", "_PyEval_EvalFrameDefault"}),
            "c10::cuda::CUDACachingAllocator::malloc");
  EXPECT_EQ(Telling({}), "");
}

TEST(FrameTest, AProgramInCppHasItsOwnFunctions) {
  EXPECT_EQ(Telling({"at::native::mm(at::Tensor const&) (libtorch_cpu.so+0x12)",
                     "Net::forward(at::Tensor) (train+0x9)", "main (train+0x3)",
                     "__libc_start_main (libc.so.6+0x2)"}),
            "Net::forward");
  EXPECT_EQ(Telling({"at::native::mm (libtorch_cpu.so+0x12)", "Net::forward(at::Tensor) (/src/net.cpp:9)"}),
            "Net::forward(at::Tensor) (/src/net.cpp:9)");
  EXPECT_EQ(Telling({"at::native::addmm() (/pytorch/aten/src/ATen/native/cuda/Blas.cpp:50)",
                     "main (C:\\u\\train.py:12)", "PyEval_EvalCode"}),
            "main (C:\\u\\train.py:12)");
  EXPECT_EQ(Telling({"at::native::addmm() (/build/Blas.cpp:50)", "run(Net&) (/usr/include/c++/12/thread:9)",
                     "Net::forward() (/src/c10d/net.cpp:9)"}),
            "Net::forward() (/src/c10d/net.cpp:9)");
  EXPECT_EQ(
      Telling({"void std::__invoke_impl<void>(std::__invoke_other) (train+0x12)", "libtorch_cpu.so+0x12"}),
      "void std::__invoke_impl<void>");
}

TEST(FrameTest, NativeFramesHaveTheNamesThatPeopleWrite) {
  EXPECT_EQ(Demangled("_ZN2at6native2mmERKNS_6TensorE (libtorch_cpu.so+0x12)"),
            "at::native::mm(at::Tensor const&) (libtorch_cpu.so+0x12)");
  EXPECT_EQ(Demangled("main (train+0x3)"), std::nullopt);
  EXPECT_EQ(Demangled("_ZN2at6native2mmERKNS_6TensorE"), std::nullopt);  // a name, not a frame
  EXPECT_EQ(Demangled("_Zebra (zoo.so+0x3)"), std::nullopt);
}

TEST(FrameTest, FramesOfTheInterpreterAreKnown) {
  for (const char* frame :
       {"_PyEval_EvalFrameDefault", "PyObject_Vectorcall (/usr/local/lib/libpython3.11.so.1.0:1412002)",
        "?? (/usr/local/lib/libpython3.11.so.1.0:1461486)", "_start (/usr/local/bin/python3.11:4224)",
        "libpython3.11.so.1.0+0x33", "?? (/opt/vramscope/libvramscope_injector.so:123300)",
        "wrapper (/x/vramscope_shim/modules.py:4)", "_run_code (<frozen runpy>:88)",
        "start_thread (libc.so.6+0x2)"}) {
    EXPECT_EQ(KindOfFrame(frame), FrameKind::kInterpreter) << frame;
  }
  EXPECT_EQ(KindOfFrame("PyTorchStep (train+0x3)"), FrameKind::kOwn);
  EXPECT_EQ(KindOfFrame("_call_impl (/v/site-packages/torch/nn/modules/module.py:1787)"),
            FrameKind::kFramework);
  EXPECT_EQ(KindOfFrame("?? (/v/site-packages/torch/lib/libtorch_cuda.so:69)"), FrameKind::kInterpreter);
}

TEST(FrameTest, WithoutFoldersAFrameIsOfTheSameKind) {
  for (const auto& [frame, shown] : std::initializer_list<std::pair<const char*, const char*>>{
           {"forward (/data/me/proj/model.py:32)", "forward (model.py:32)"},
           {"forward (/data/m e/my proj/model.py:32)", "forward (model.py:32)"},
           {"forward (proj/sub/model.py:32)", "forward (model.py:32)"},
           {"main (C:\\Users\\me\\train.py:12)", "main (train.py:12)"},
           {"step (/data/me/venv/lib/python3.11/site-packages/torch/optim/adam.py:7)",
            "step (.../site-packages/torch/optim/adam.py:7)"},
           {"f (/data/me/pytorch/torch/nn/modules/module.py:7)", "f (.../torch/nn/modules/module.py:7)"},
           {"run (/data/me/.pyenv/lib/python3.11/threading.py:7)", "run (.../lib/python3.11/threading.py:7)"},
           {"main (/data/me/venv/bin/torchrun:8)", "main (.../bin/torchrun:8)"},
           {"call (/tmp/torchinductor_me/ab/cab.py:8)", "call (.../torchinductor_/cab.py:8)"},
           {"/data/me/app/libnet.so+0x1f20", "libnet.so+0x1f20"},
           {"net::Take() (libnet.so+0x1f20)", "net::Take() (libnet.so+0x1f20)"},
           {"/data/me/t.py:3 main", "t.py:3 main"},
           {"<module> (t.py:3)", "<module> (t.py:3)"},
           {"void f<int(int)>(std::pair<int, int>) (app+0x10)",
            "void f<int(int)>(std::pair<int, int>) (app+0x10)"}}) {
    EXPECT_EQ(WithoutFolders(frame), shown);
    EXPECT_EQ(KindOfFrame(WithoutFolders(frame)), KindOfFrame(frame)) << frame;
  }
}

TEST(FrameTest, OtherTextsLoseTheirFoldersToo) {
  EXPECT_EQ(WithoutFolders("/data/me/.cache/x.so"), "x.so");
  EXPECT_EQ(WithoutFolders("the bridge at /data/me/x.so, by C:\\work\\t.py"), "the bridge at x.so, by t.py");
  EXPECT_EQ(WithoutFolders("PATH=/data/me/bin2/x.d:/data/you/y.d"), "PATH=y.d");
  for (const char* text :
       {"", "/", "a/b tokens/s", "train/step 3", "1 / 2", "https://host/x", "max_split_size_mb:128", "x: /y"})
    EXPECT_EQ(WithoutFolders(text), text);
}

}  // namespace
}  // namespace vramscope::text
