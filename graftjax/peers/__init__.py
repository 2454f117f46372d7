"""Retrievers behind one contract: GRAFT itself and the methods it is compared with."""

from graftjax.peers.contract import Retrieval, Retriever

__all__ = ["Retrieval", "Retriever"]
