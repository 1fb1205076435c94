"""From what a walk brought back to one verdict: every status, every sentence that leads, once and by the catalogue.

Layers say what they found and what they could not look at; nothing of it is weighed there. Here it is, in one pass
(``judge.judge``): what the evidence is worth (``doubts``), what is still open (``failed_connection``, ``stated_symptom``), which finding outranks
which, what each layer comes to (``tally``), and the verdict (``verdict``). Pure: the same walk gives the same verdict.
"""
