"""Records recurrent networks and packed sequences for rnn_test.cpp."""

import torch
from torch import nn
from torch.nn.utils import rnn

from record_lib import Recorder

r = Recorder("rnn.safetensors")


def pair(m, x, h, c):
    return m(x, (h, c))


def packed(m, x, lengths, *states):
    """Results of a padded, unsorted batch, padded again."""
    states = states[0] if len(states) == 1 else states or None
    sequence = rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
    output, last = m(sequence, states)
    return rnn.pad_packed_sequence(output), last


for name, network in (("RNN", nn.RNN), ("GRU", nn.GRU)):
    r.module(name, network(3, 2), r.randn(4, 2, 3))
    r.module(f"{name}_batch_first",
             network(3, 2, batch_first=True, bidirectional=True,
                     bias=False),
             r.randn(2, 3, 3), r.randn(2, 2, 2))
    r.module(f"{name}_packed", network(3, 2),
             r.randn(4, 3, 3), torch.tensor([2, 4, 1]), r.randn(1, 3, 2),
             call=packed)
r.module("GRU_vectors", nn.GRU(3, 2, num_layers=2, bias=False), r.randn(3, 3))
r.module("GRU_vectors_state", nn.GRU(3, 2, batch_first=True, bias=False),
         r.randn(3, 3), r.randn(1, 2))
r.module("RNN_relu", nn.RNN(3, 2, nonlinearity="relu"), r.randn(4, 2, 3))
r.module("RNN_relu_packed", nn.RNN(3, 2, nonlinearity="relu", bias=False),
         r.randn(4, 3, 3), torch.tensor([2, 4, 1]), call=packed)

r.module("LSTM", nn.LSTM(3, 2), r.randn(4, 2, 3))
r.module("LSTM_batch_first", nn.LSTM(3, 2, batch_first=True, bias=False,
                                     bidirectional=True),
         r.randn(2, 3, 3), r.randn(2, 2, 2), r.randn(2, 2, 2), call=pair)
r.module("LSTM_vectors", nn.LSTM(3, 2, num_layers=2, bias=False),
         r.randn(3, 3))
r.module("LSTM_vectors_state", nn.LSTM(3, 2, batch_first=True, bias=False),
         r.randn(3, 3), r.randn(1, 2), r.randn(1, 2), call=pair)
r.module("LSTM_dropout_eval",
         nn.LSTM(3, 2, num_layers=2, dropout=0.9, bias=False).eval(),
         r.randn(3, 2, 3))
r.module("LSTM_proj", nn.LSTM(3, 4, proj_size=2, num_layers=2, bias=False,
                              bidirectional=True), r.randn(3, 2, 3))
r.module("LSTM_proj_state", nn.LSTM(3, 4, proj_size=2),
         r.randn(3, 2, 3), r.randn(1, 2, 2), r.randn(1, 2, 4), call=pair)
r.module("LSTM_packed", nn.LSTM(3, 2, bidirectional=True, bias=False),
         r.randn(4, 3, 3),
         torch.tensor([2, 4, 1]), r.randn(2, 3, 2), r.randn(2, 3, 2),
         call=packed)
r.module("LSTM_packed_proj", nn.LSTM(3, 4, proj_size=2), r.randn(4, 3, 3),
         torch.tensor([2, 4, 1]), call=packed)

for name, cell in (("RNNCell", nn.RNNCell), ("GRUCell", nn.GRUCell)):
    r.module(name, cell(3, 2), r.randn(4, 3))
    r.module(f"{name}_state", cell(3, 2, bias=False), r.randn(4, 3),
             r.randn(4, 2))
    r.module(f"{name}_vector_state", cell(3, 2), r.randn(3), r.randn(2))
r.module("RNNCell_relu", nn.RNNCell(3, 2, nonlinearity="relu"), r.randn(4, 3))
r.module("LSTMCell", nn.LSTMCell(3, 2), r.randn(4, 3))
r.module("LSTMCell_state", nn.LSTMCell(3, 2, bias=False), r.randn(4, 3),
         r.randn(4, 2), r.randn(4, 2), call=pair)
r.module("LSTMCell_vector_state", nn.LSTMCell(3, 2), r.randn(3), r.randn(2),
         r.randn(2), call=pair)


def parts(p):
    given = (p.data, p.batch_sizes, p.sorted_indices, p.unsorted_indices)
    return [t for t in given if t is not None]


def padded_again(**options):
    def run(a, b, c):
        return rnn.pad_packed_sequence(
            rnn.pack_sequence([a, b, c], enforce_sorted=False), **options)
    return run


abc = [r.randn(n, 2) for n in (2, 4, 1)]
r.function("pack_padded_sequence",
           lambda x, n: parts(rnn.pack_padded_sequence(x, n)),
           r.randn(3, 2, 2), torch.tensor([3, 2]))
r.function("pack_padded_sequence_unsorted",
           lambda x, n: parts(rnn.pack_padded_sequence(
               x, n, batch_first=True, enforce_sorted=False)),
           r.randn(3, 4, 2), torch.tensor([2, 4, 1], dtype=torch.int32))
r.function("pack_sequence",
           lambda *x: parts(rnn.pack_sequence(x, enforce_sorted=False)), *abc)
r.function("pad_packed_sequence", padded_again(), *abc)
r.function("pad_packed_sequence_options",
           padded_again(batch_first=True, padding_value=-1.5, total_length=5),
           *abc)
r.function("pad_sequence", lambda *x: rnn.pad_sequence(x), *abc)
r.function("pad_sequence_options",
           lambda *x: rnn.pad_sequence(x, batch_first=True, padding_value=2.5,
                                       padding_side="left"), *abc)
r.function("unpack_sequence",
           lambda *x: rnn.unpack_sequence(
               rnn.pack_sequence(x, enforce_sorted=False)), *abc)
r.write()
