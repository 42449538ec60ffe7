"""Which records of several sources are the same article: records in, links out, without a database.

How a load uses it:

    model = Model.shipped()
    index = MatchIndex.open(directory)          # or MatchIndex(): an empty one in memory
    index.add(new)                              # `new`: the load's records as `MatchRecord`
    linkage = Matcher(model, index).link([record.key for record in new])
    # Stored links with an end in linkage.touched give way to linkage.links.
    groups = cluster(members, links, accepted=..., rejected=...).groups
    index.save(directory)                       # after the load's commit

A `RecordLink` is a pair that the rules or the model speak for, with evidence and score: `LinkDecision.LINK` is made
without a person, `LinkDecision.REVIEW` waits for one. The linkage covers the given records and those that compete with
them, so that a later record can take back what an earlier one seemed to be. A link depends on the records in the index
alone, never on the order in which they came. `members` and `links` of `cluster` are those of the touched articles: all
records and stored links that are connected with a touched record. The index is a cache, made again from the records at
any time.
"""
