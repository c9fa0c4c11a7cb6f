"""The vocabulary: frozen values that every stage shares, standard library only.

`scenario` is what a scenario asks for, `records` is what was measured, `result` is what was concluded from it.
`metrics`, `guardrails` and `facts` are the tables that rules and sentences share.
Values here hold data and say what they mean; what computes with them lives in the stage that owns the computation.
"""
