"""Parts of answers: expressions, cursors, sizes in bytes and tokens, answers that are kept whole.

Nothing of it is loaded unless a caller asks for a part, or an answer has a limit.
"""
