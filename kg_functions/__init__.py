"""The graph: 13 functions, their guard and accounting, and the engines that answer them."""
