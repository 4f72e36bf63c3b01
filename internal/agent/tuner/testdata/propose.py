"""Proposes points with a sampler of Optuna, for compare_test.go.

One JSON value a line. {"sampler", "seed", "space", "start", "value"} begins a
study with one finished trial; {"value"} is the result of the last proposal. Each
is answered by the next proposal: {name: value}.
"""

import json
import sys

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

optuna.logging.set_verbosity(optuna.logging.ERROR)

# The settings that Optuna has by itself.
SAMPLERS = {
    "random": lambda seed: optuna.samplers.RandomSampler(seed=seed),
    "TPE": lambda seed: optuna.samplers.TPESampler(seed=seed),
    "CMA-ES": lambda seed: optuna.samplers.CmaEsSampler(seed=seed, warn_independent_sampling=False),
}


def distribution(param):
    if param["choice"]:
        return CategoricalDistribution(list(range(int(param["min"]), int(param["max"]) + 1)))
    if param["int"]:
        return IntDistribution(int(param["min"]), int(param["max"]), log=param["log"])
    return FloatDistribution(param["min"], param["max"], log=param["log"])


study = space = trial = None
for line in sys.stdin:
    message = json.loads(line)
    if "sampler" in message:
        space = {param["name"]: distribution(param) for param in message["space"]}
        study = optuna.create_study(sampler=SAMPLERS[message["sampler"]](message["seed"]))
        start = {
            param["name"]: int(message["start"][param["name"]]) if param["int"] else message["start"][param["name"]]
            for param in message["space"]
        }
        study.add_trial(optuna.trial.create_trial(params=start, distributions=space, value=message["value"]))
    else:
        study.tell(trial, message["value"])
    trial = study.ask(space)
    print(json.dumps(trial.params), flush=True)
