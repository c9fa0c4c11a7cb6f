"""The vocabulary: frozen values that every stage shares, standard library only.

`asked` is what a scenario asks for, `seen` is what was measured, `judged` is what was concluded from it.
`metrics`, `guardrails` and `facts` are the tables that rules and sentences share.
Values here hold data and say what they mean; what computes with them lives in the stage that owns the computation.
"""
