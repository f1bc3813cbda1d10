# SPDX-License-Identifier: Apache-2.0
"""Models of series over time that foresee how they go on, from the package transformers."""

from typing import Any, Callable

import torch
from torch import Tensor, nn

from .subject import Batch, Subject, scaled

LAGS = [1, 2, 3, 4, 5, 6, 7]


def _known(past: int, future: int) -> Callable[[int], Batch]:
    """Values and two features of their times, of what was and what will be."""
    return lambda count: (torch.randn(count, past), torch.randn(count, past, 2), torch.randn(count, future), torch.randn(count, future, 2))


def _foreseen(model: nn.Module, values: Tensor, times: Tensor, later: Tensor, later_times: Tensor) -> Tensor:
    return model(past_values=values, past_time_features=times, past_observed_mask=torch.ones_like(values), future_values=later, future_time_features=later_times).loss


def informer(size: str) -> Subject:
    """Keys are drawn to find the queries worth their attention, and the series is halved between blocks."""
    from transformers import InformerConfig, InformerForPrediction

    past, future, width = scaled(size, 64, 128, 256), 24, scaled(size, 64, 96, 128)
    config: Any = InformerConfig(prediction_length=future, context_length=past, lags_sequence=LAGS, num_time_features=2, d_model=width, encoder_layers=3, decoder_layers=2,
                                 encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width, encoder_layerdrop=0.0, decoder_layerdrop=0.0)
    return Subject(InformerForPrediction(config), _known(past + max(LAGS), future), _foreseen)


def time_series_transformer(size: str) -> Subject:
    """Past values, moved by several steps each, are the features of each step."""
    from transformers import TimeSeriesTransformerConfig, TimeSeriesTransformerForPrediction

    past, future, width = scaled(size, 64, 128, 256), 24, scaled(size, 64, 96, 128)
    config: Any = TimeSeriesTransformerConfig(prediction_length=future, context_length=past, lags_sequence=LAGS, num_time_features=2, d_model=width, encoder_layers=2, decoder_layers=2,
                                              encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width, encoder_layerdrop=0.0, decoder_layerdrop=0.0)
    return Subject(TimeSeriesTransformerForPrediction(config), _known(past + max(LAGS), future), _foreseen)


def autoformer(size: str) -> Subject:
    """Trends are taken off behind each part; attention is between delays, found by a Fourier transform."""
    from transformers import AutoformerConfig, AutoformerForPrediction

    past, future, width = scaled(size, 64, 128, 256), 24, scaled(size, 64, 96, 128)
    config: Any = AutoformerConfig(prediction_length=future, context_length=past, lags_sequence=LAGS, num_time_features=2, d_model=width, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                                   decoder_attention_heads=4, encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width, encoder_layerdrop=0.0, decoder_layerdrop=0.0)
    return Subject(AutoformerForPrediction(config), _known(past + max(LAGS), future), _foreseen)


def timesfm(size: str) -> Subject:
    """Patches of a series, scaled by the first of them, and what comes behind each in one step, with quantiles; series are prepared one by one."""
    from transformers import TimesFmConfig, TimesFmModelForPrediction

    past, future, width = scaled(size, 128, 256, 512), 32, scaled(size, 128, 192, 256)
    config: Any = TimesFmConfig(patch_length=8, context_length=past, horizon_length=future, num_hidden_layers=4, hidden_size=width, intermediate_size=2 * width, head_dim=32,
                                num_attention_heads=4, use_positional_embedding=True)

    def foreseen(model: nn.Module, values: Tensor, later: Tensor) -> Tensor:
        return model(past_values=values, future_values=later).loss

    return Subject(TimesFmModelForPrediction(config), lambda count: (torch.randn(count, past), torch.randn(count, future)), foreseen)


def timesfm2_5(size: str) -> Subject:
    """TimesFM that sees each series twice, once upside down, scales each patch by all before it, and has a second head for how sure it is; positions turn queries and keys."""
    from transformers import TimesFm2_5Config, TimesFm2_5ModelForPrediction

    past, future, width = scaled(size, 128, 256, 512), 32, scaled(size, 128, 192, 256)
    config: Any = TimesFm2_5Config(patch_length=8, context_length=past, horizon_length=future, num_hidden_layers=4, hidden_size=width, intermediate_size=2 * width, head_dim=width // 4,
                                   num_attention_heads=4, num_key_value_heads=4, output_quantile_len=64, max_position_embeddings=512)

    def foreseen(model: nn.Module, values: Tensor, later: Tensor) -> Tensor:
        return model(past_values=values, future_values=later).loss

    return Subject(TimesFm2_5ModelForPrediction(config), lambda count: (torch.randn(count, past), torch.randn(count, future)), foreseen)
