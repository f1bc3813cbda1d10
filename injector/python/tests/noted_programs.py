# SPDX-License-Identifier: Apache-2.0
"""Programs of program_test.py, and what all of them begin with."""

import textwrap

MODELS = textwrap.dedent("""
    import functools, gc, os, sys
    import torch
    from torch import nn
    from torch.nn import functional as F
    from torch.utils.checkpoint import checkpoint

    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.norm, self.qkv, self.out, self.drop = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width), nn.Dropout(0.1)
            self.chosen = functools.partial(F.softmax, dim=-1, dtype=torch.float32)
        def forward(self, x):
            b, t, c = x.shape
            q, k, v = (each.view(b, t, 2, c // 2).transpose(1, 2) for each in self.qkv(self.norm(x)).split(c, dim=2))
            scores = (q @ k.transpose(-2, -1)) / (c // 2) ** 0.5
            mask = torch.full((t, t), torch.finfo(scores.dtype).min, dtype=scores.dtype).triu(1)
            dtype = x.dtype
            scores = (self.chosen(scores + mask).to(torch.float32) * 2).to(dtype)
            return x + self.out((self.drop(scores) @ v).transpose(1, 2).reshape(b, t, c))

    class Net(nn.Module):
        def __init__(self, width=16, checkpointed=False):
            super().__init__()
            self.table, self.places = nn.Embedding(32, width), nn.Embedding(64, width)
            self.blocks, self.head = nn.ModuleList(Block(width) for _ in range(2)), nn.Linear(width, 32, bias=False)
            self.head.weight, self.checkpointed = self.table.weight, checkpointed
        def forward(self, ids):
            x = self.table(ids) + self.places(torch.arange(ids.size(1)))
            for block in self.blocks:
                x = checkpoint(block, x, use_reentrant=False) if self.checkpointed else block(x)
            return self.head(x)

    def batch():
        return torch.randint(32, (4, 8)), torch.randint(32, (4, 8))

    def loss_of(net, ids, labels):
        logits = net(ids)
        return F.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1))

    def train(net, optimizer, steps=8, say=print):
        for _ in range(steps):
            ids, labels = batch()
            loss = loss_of(net, ids, labels)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            say(loss.item().hex())

    torch.manual_seed(0)
""")
PROGRAMS = {
    "plain": """
        net = Net()
        train(net, torch.optim.AdamW(net.parameters(), lr=1e-2))
    """,
    "checkpointed": """
        net = Net(checkpointed=True)
        train(net, torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9))
    """,
    **{name: f"""
        class Switched(Net):
            supports_gradient_checkpointing = True
            def gradient_checkpointing_enable(self, gradient_checkpointing_kwargs):
                self.config["cache"], self.checkpointed = False, True
                {what}
        net = Switched()
        net.config = {{"cache": True}}
        train(net, torch.optim.SGD(net.parameters(), lr=1e-2))
        assert net.config["cache"] and not net.checkpointed and not net.table._forward_hooks, "the program's own model was switched"
    """ for name, what in (("switched", "self.table.register_forward_hook(lambda module, args, result: result.requires_grad_(True))"),
                           ("switched_alone", "pass"),
                           ("switched_in_part", "self.blocks[1].checkpoints_itself = True"),
                           ("switched_otherwise", "self.table.register_forward_hook(lambda module, args, result: result * 2)"))},
    "autocast": """
        net = Net()
        optimizer = torch.optim.Adam(net.parameters())
        for _ in range(8):
            with torch.autocast("cpu", torch.bfloat16):
                loss = loss_of(net, *batch())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            print(loss.item().hex())
    """,
    "scaler_switched_off": """
        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
        scaler = torch.amp.GradScaler("cpu", enabled=False)
        for _ in range(8):
            scaled = scaler.scale(loss_of(net, *batch()))
            scaled.backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            print(scaled.item().hex())
    """,
    "accumulated": """
        net = Net()
        optimizer = torch.optim.AdamW([{"params": net.blocks.parameters()}, {"params": [*net.table.parameters(), *net.places.parameters()], "lr": 1e-4}])
        kept = []
        for _ in range(8):
            for _ in range(2):
                loss = loss_of(net, *batch()) / 2
                loss.backward()
            with torch.no_grad():
                kept.append(loss.detach() * 2)
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
            print(kept[-1].item().hex())
    """,
    "loader": """
        from torch.utils.data import DataLoader, TensorDataset
        net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(144, 3))
        optimizer = torch.optim.RMSprop(net.parameters())
        for images, labels in DataLoader(TensorDataset(torch.randn(32, 1, 8, 8), torch.randint(3, (32,))), batch_size=4):
            loss = nn.CrossEntropyLoss()(net(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(loss.item().hex())
    """,
    "attention": """
        from torch.nn.attention import SDPBackend, sdpa_kernel
        class Reader(nn.Module):
            def __init__(self):
                super().__init__()
                self.qkv = nn.Linear(8, 24)
            def forward(self, x):
                with sdpa_kernel(SDPBackend.MATH):
                    return F.scaled_dot_product_attention(*self.qkv(x).chunk(3, -1)).mean()
        net = Reader()
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
        for _ in range(8):
            loss = net(torch.randn(2, 4, 8))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(loss.item().hex())
    """,
    "recurrent": """
        class Reader(nn.Module):
            def __init__(self):
                super().__init__()
                self.lstm, self.head = nn.LSTM(8, 8, num_layers=2, batch_first=True), nn.Linear(8, 1)
            def forward(self, x, state):
                x, state = self.lstm(x, state)
                return self.head(x[:, -1]), state
        net, state = Reader(), None
        optimizer = torch.optim.AdamW(net.parameters())
        for _ in range(8):
            result, state = net(torch.randn(4, 5, 8), state)
            state = tuple(each.detach() for each in state)
            loss = result.square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(loss.item().hex())
    """,
}
# Each function of ours raises, in turn, while a step is noted.
FAILING = """
    import json
    from vramscope_shim import torch_hook
    from vramscope_program.noting import document, listener, names, sizes, step, trees, values

    program = torch_hook._recorder._program
    text = os.environ["VRAMSCOPE_PROGRAM_TO"]
    before = nn.Module.__call__, torch.autograd.Function.apply, torch.autograd.backward

    net = Net(checkpointed=True)
    optimizer, start = torch.optim.AdamW(net.parameters()), {name: tensor.clone() for name, tensor in net.state_dict().items()}

    def noted(plant):
        torch.manual_seed(1)
        net.load_state_dict(start)
        optimizer.state.clear()
        said = []
        program._noted, program._why, program._deep_seen = 0, [], True
        open(text, "w").write("{}")
        plant()
        train(net, optimizer, steps=4, say=said.append)
        return said

    normal = noted(lambda: None)
    print("noted", "body" in json.load(open(text)))
    for owner in (step.Step, names.Names, trees.Trees, values.Values, listener.Listener, document):
        for name, kept in list(vars(owner).items()):
            if not callable(kept) or isinstance(kept, type) or name in ("leave", "mode_is_out") or name.startswith("__") and name != "__init__":
                continue
            if owner is document and kept.__module__ != document.__name__:
                continue
            reached = []
            def failing(*args, **named):
                reached.append(name)
                raise ZeroDivisionError(name)
            got = noted(lambda: setattr(owner, name, failing))
            setattr(owner, name, kept)
            found = json.load(open(text))
            if got != normal:
                print("harmed by", owner.__name__, name)
            if reached and ("body" in found or "ZeroDivisionError" not in str(found.get("missing"))):
                print("not told:", owner.__name__, name, str(found)[:200])
            if (nn.Module.__call__, torch.autograd.Function.apply, torch.autograd.backward) != before or torch._C._len_torch_function_stack():
                print("left behind:", owner.__name__, name)
"""
