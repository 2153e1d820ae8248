"""Plain functions on columns of whole numbers. They know no plan, raise no errors and write no log.

A column is an `array('q')`. Run as Python, a kernel computes with Python's integers, exact at any size; compiled,
with int64, exact while no product passes 2⁶²: the caller's guard (`_jit.fits`) decides.
"""
