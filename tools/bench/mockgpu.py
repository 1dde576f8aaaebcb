def signal_writes():
    from tools.bench.pairs import PeerMissingError
    raise PeerMissingError("x")
