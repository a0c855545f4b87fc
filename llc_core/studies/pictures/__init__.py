"""Classifiers of pictures that samplers move from random starts, and whether their doubt is worth something: tables as in Deng et al. 2022."""

from llc_core.studies.pictures.chains import ClassifierChains
from llc_core.studies.pictures.measuring import PictureScores, measure
from llc_core.studies.pictures.methods import METHODS
from llc_core.studies.pictures.table import PictureTable, read_table
from llc_core.studies.pictures.task import PictureTask, picture_task

__all__ = [
    "METHODS",
    "ClassifierChains",
    "PictureScores",
    "PictureTable",
    "PictureTask",
    "measure",
    "picture_task",
    "read_table",
]
