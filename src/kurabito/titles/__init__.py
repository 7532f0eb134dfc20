from kurabito.titles.parser import parse_title
from kurabito.titles.model import *
