"""A packet's walk through netfilter rules, as the kernel takes it, with every branch and its weight.

Only the first packet of a connection is walked (state NEW), since the nat tables see no other. A match that can't be
decided from addresses, ports and origin is neither true nor false: in a chain of the data plane it makes the answer
undecided, elsewhere it becomes a rule that may take the packet.

``walker`` starts the walk and keeps what one packet learns for the next. ``flow`` is the packet and its branches;
``hooks`` the order of base chains; ``chains`` the way through one of them; ``matches`` whether a condition holds;
``lookup`` which rules of a long chain can; ``foreign`` what rules of others do; ``masquerade`` whether it leaves with
the node's address; ``outcome`` adds the branches up. ``ownership`` says whose a chain is.
"""

from svcpath.models.dataplanes.netfilter.flow import RulePacket
from svcpath.models.dataplanes.netfilter.ownership import KUBELET_CHAINS, is_own, own_not_understood
from svcpath.models.dataplanes.netfilter.walker import Walker

__all__ = ["KUBELET_CHAINS", "RulePacket", "Walker", "is_own", "own_not_understood"]
