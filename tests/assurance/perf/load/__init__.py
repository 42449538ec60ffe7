"""`make load`: a mix of calls at rising rates of arrival, from many addresses, and the rate that the service keeps up with."""
