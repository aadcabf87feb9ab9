"""A GGUF model of a few kilobytes: random weights, one token for each byte, and a template with tools.

What it says is nonsense; that it says it within a grammar, by its template and from its cache, is llama.cpp's
own work. The format is https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (MIT).
"""

import random
import struct

WIDTH, FORWARD, HEADS = 32, 32, 2
TEMPLATE = """{%- for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}
{%- for c in m.tool_calls or [] %}<tool_call>{{ c.function | tojson }}</tool_call>{% endfor %}
{%- if m.role == 'system' %}{% for t in tools or [] %}
{{ t | tojson }}{% endfor %}{% endif %}
{% endfor %}{%- if add_generation_prompt %}<|assistant|>{% endif %}"""

_UINT32, _FLOAT32, _BOOL, _STRING, _ARRAY, _INT32 = 4, 6, 7, 8, 9, 5


def write(path, seed=1):
    """Write the model of a seed."""
    tokens = [_as_gpt2(byte) for byte in range(256)] + ["<s>", "</s>"]
    tensors = list(_tensors(len(tokens)))
    meta = [
        _text("general.architecture", "llama"),
        _text("general.name", "tiny"),
        *(
            _number(f"llama.{key}", value)
            for key, value in {
                "context_length": 32768,
                "embedding_length": WIDTH,
                "block_count": 1,
                "feed_forward_length": FORWARD,
                "attention.head_count": HEADS,
                "attention.head_count_kv": HEADS,
                "rope.dimension_count": WIDTH // HEADS,
                "vocab_size": len(tokens),
            }.items()
        ),
        _key("llama.attention.layer_norm_rms_epsilon", _FLOAT32) + struct.pack("<f", 1e-5),
        _text("tokenizer.ggml.model", "gpt2"),
        _text("tokenizer.ggml.pre", "default"),
        _list("tokenizer.ggml.tokens", _STRING, [_string(token) for token in tokens]),
        _list("tokenizer.ggml.token_type", _INT32, [struct.pack("<i", 1)] * 256 + [struct.pack("<i", 3)] * 2),
        _list("tokenizer.ggml.merges", _STRING, []),
        _number("tokenizer.ggml.bos_token_id", 256),
        _number("tokenizer.ggml.eos_token_id", 257),
        _key("tokenizer.ggml.add_bos_token", _BOOL) + b"\0",
        _text("tokenizer.chat_template", TEMPLATE),
    ]
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(meta)) + b"".join(meta)
    drawn, infos, data = random.Random(seed), b"", b""
    for name, shape in tensors:
        infos += _string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(data))
        size = shape[0] * (shape[1] if len(shape) > 1 else 1)
        flat = [1.0] * size if len(shape) == 1 else [drawn.gauss(0, 0.3) for _ in range(size)]
        data += _padded(struct.pack(f"<{size}f", *flat))
    path.write_bytes(_padded(head + infos) + data)
    return path


def _tensors(vocabulary):
    yield "token_embd.weight", (WIDTH, vocabulary)
    yield "output_norm.weight", (WIDTH,)
    yield "output.weight", (WIDTH, vocabulary)
    for part in ("attn_norm", "ffn_norm"):
        yield f"blk.0.{part}.weight", (WIDTH,)
    for part in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        yield f"blk.0.{part}.weight", (WIDTH, WIDTH)


def _as_gpt2(byte):
    """The letter that GPT-2's vocabulary has for a byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return chr(byte if byte in plain else 256 + [b for b in range(256) if b not in plain].index(byte))


def _string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _key(name, kind):
    return _string(name) + struct.pack("<I", kind)


def _text(name, value):
    return _key(name, _STRING) + _string(value)


def _number(name, value):
    return _key(name, _UINT32) + struct.pack("<I", value)


def _list(name, kind, items):
    return _key(name, _ARRAY) + struct.pack("<IQ", kind, len(items)) + b"".join(items)


def _padded(data):
    return data + b"\0" * (-len(data) % 32)
