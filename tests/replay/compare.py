"""What must hold of a replay: equality with the model's prediction, or, for garbage, that nothing
wrong went out.
"""

import heapq

from answers import answer, split
from headers import find_headers, is_of_port
from local import echo_reply
from model import predict
from translate import Rewrite, splice


def check_conservation(replay):
    """The program checks it too and says so by its status; here its own figures are added up once
    more.
    """
    assert replay.status == 0, f"status {replay.status}:\n{replay.log}"
    packets, flows = replay.report["packets"], replay.report["flows"]
    drops = sum(replay.report["drops"].values())
    assert (
        packets["received"] + packets["originated"]
        == packets["sent"] + drops + packets["consumed"]
    ), replay.report
    assert flows["created"] == sum(
        flows[end] for end in ("live", "ended", "expired", "evicted")
    ), flows
    assert packets["sent"] == sum(map(len, replay.sent)), "the report and the files disagree"


def check_sent(predicted, observed):
    """Every packet of each port, byte by byte and in order."""
    for port, (expected, sent) in enumerate(zip(predicted, observed)):
        for number, (want, record) in enumerate(zip(expected, sent)):
            assert record.frame == want, (
                f"port {port}, packet {number} is\n  {record.frame.hex()}\nand must be\n"
                f"  {want.hex()}"
            )
        assert len(sent) == len(
            expected
        ), f"port {port} sent {len(sent)} packets of {len(expected)}"


def check_against_model(config, captures, replay):
    """Every packet of both directions, byte by byte and in order, and every count."""
    check_conservation(replay)
    forwarded, answers = split(config, replay.sent)
    prediction = predict(config, captures, forwarded)
    check_sent(prediction.sent, forwarded)
    check_sent(prediction.answers, answers)
    sent_answers = replay.report["icmp_errors_sent"]
    told = sent_answers["time_exceeded"] + sent_answers["unreachable"]
    assert told == sum(map(len, answers)), sent_answers

    report = replay.report
    assert report["packets"]["received"] == prediction.received, report["packets"]
    assert report["packets"]["consumed"] == prediction.consumed, report["packets"]
    assert report["echo_replies"] == prediction.echo_replies, report["echo_replies"]
    drops = {cause: count for cause, count in report["drops"].items() if count}
    assert drops == dict(prediction.drops), f"drops {drops}, the model's {dict(prediction.drops)}"
    flows = {what: report["flows"][what] for what in prediction.flows}
    assert flows == prediction.flows, f"flows {flows}, the model's {prediction.flows}"
    by_backend = {
        (service["name"], backend["name"]): backend["flows"]
        for service in report["services"]
        for backend in service["backends"]
        if backend["flows"]
    }
    assert by_backend == dict(prediction.flows_by_backend), (
        by_backend,
        prediction.flows_by_backend,
    )
    return prediction


def check_nothing_wrong(config, captures, replay):
    """Each packet that went out is a right translation of one that came in, in their order."""
    check_conservation(replay)
    arrivals = list(
        heapq.merge(
            *(
                [(record.time, port, record.frame) for record in capture]
                for port, capture in enumerate(captures)
            ),
            key=lambda a: a[:2],
        )
    )
    translations = [legal_translations(config, port, frame) for _, port, frame in arrivals]
    forwarded, answers = split(config, replay.sent)
    check_answers(config, arrivals, answers)
    for port, sent in enumerate(forwarded):
        remaining = iter(translations)
        for number, record in enumerate(sent):
            assert any(
                (port, record.frame) in legal for legal in remaining
            ), f"port {port}, packet {number} translates nothing that came in: {record.frame.hex()}"


def check_answers(config, arrivals, answers):
    """Each ICMP error is about a packet that came in by its port, and its bytes are right."""
    legal = [set() for _ in config.ports]
    mtus = [None, *(port.mtu for port in config.ports)]
    for _, port, frame in arrivals if any(answers) else ():
        headers = find_headers(frame)
        if headers is not None:
            legal[port].update(answer(config.ports[port], frame, headers, mtu) for mtu in mtus)
    for port, sent in enumerate(answers):
        for record in sent:
            assert record.frame in legal[port], f"port {port} answers {record.frame.hex()}"


def legal_translations(config, in_port, frame):
    """The (port, frame) that may go out for this one; empty when it must be dropped."""
    reply = echo_reply(config, config.ports[in_port], frame)
    if reply is not None:
        return {(in_port, reply)}
    headers = find_headers(frame)
    if headers is None or headers.hops <= 1 or not is_of_port(headers.vlan, config.ports[in_port]):
        return set()
    if frame[:6] != config.ports[in_port].mac:
        return set()
    legal = set()
    service = config.service_at(headers.protocol, headers.target)
    for backend in service.backends if service else ():
        legal.add(translation(config, frame, headers, False, backend, backend.address))
    for owner in config.services_of_backend(headers.protocol, headers.source):
        legal.add(translation(config, frame, headers, True, owner.virtual, headers.target.address))
    return legal - {None}


def translation(config, frame, headers, at_source, endpoint, next_hop):
    hop = config.next_hop(next_hop)
    if hop is None or len(endpoint.address) != len(headers.source.address):
        return None
    port, mac = hop
    out = config.ports[port]
    return port, splice(frame, headers, Rewrite(at_source, endpoint, out.mac, mac, out.vlan))
