"""Public models, for check_models.py: MODELS of model_makers.py, filled."""

import models_of_transformers
import models_of_vision
from model_makers import MODELS

models_of_transformers.add()
models_of_vision.add()

__all__ = ["MODELS"]
