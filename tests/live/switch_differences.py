"""What `roost switch` does otherwise than its peers, on purpose, case by case: the reasons. A case
that is not here has to come out the same, and one that is here has to differ.
"""

NO_VLANS = "the bridge has no VLAN filtering here: to it, tags are payload"
LEARNED = (
    "the bridge learns from frames for 01:80:c2:00:00:0x; roost learns nothing of what it does not "
    "forward, and so does Open vSwitch"
)
PRIVATE_GROUPS = (
    "Open vSwitch takes groups of other makers' protocols for reserved as well; 802.1Q reserves "
    "01:80:c2:00:00:0x alone"
)
SOURCES = (
    "no station has a group's address or none (802.3 clause 3.2.3): roost drops the frame, as the "
    "kernel's bridge does; Open vSwitch forwards it"
)
S_TAGS = (
    "Open vSwitch reads an S-tag as a VLAN's tag; to roost, as to a customer bridge of 802.1Q, it "
    "is payload"
)

UNTAGGED_DIFFERENCES = {
    "unicast to the shy station": LEARNED,
    "priority tag": NO_VLANS,
    "C-tag": NO_VLANS,
    "C-tag of the port's own VLAN": NO_VLANS,
}

VLAN_DIFFERENCES = {
    "group: CDP": PRIVATE_GROUPS,
    "group: PVST+": PRIVATE_GROUPS,
    "trunk, DEI": "Open vSwitch clears the bit, which it uses itself; roost keeps it",
    "access, tag of its VLAN": (
        "Open vSwitch drops every tag at an access port; roost drops those of VLANs that the port "
        "has not, as 802.1Q's ingress filter does"
    ),
    "S-tag at an access port": S_TAGS,
    "S-tag of the access port's VLAN": S_TAGS,
    "S-tag at the trunk": S_TAGS,
    "S-tag at the native port": S_TAGS,
    "group source": SOURCES,
    "zero source": SOURCES,
}

# DPDK's net_af_packet beside its net_pcap. The kernel takes tags off what packet sockets receive,
# of both kinds, and tells of which it was; this driver puts C-tags back.
S_BECOMES_C = "net_af_packet receives S-tags as C-tags"
DRIVER_DIFFERENCES = {
    "S-tag": S_BECOMES_C,
    "S-tag and C-tag": S_BECOMES_C,
    "S-tag at an access port": S_BECOMES_C,
    "S-tag of the access port's VLAN": S_BECOMES_C,
    "S-tag at the trunk": S_BECOMES_C,
    "S-tag at the native port": S_BECOMES_C,
}
