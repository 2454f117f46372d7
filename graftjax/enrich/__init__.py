"""Training data enrichment: the paper's second task (Tables 4 and 5).

source → split into pieces → lake folder with a manifest → index → retrieval that starts from the base
table → joins and unions of what was retrieved → a predictor's score.
"""
