-- refund: give back what an order of a job was charged, once.
--
-- KEYS[1]  the account's counters of the day on which it was charged
-- KEYS[2]  marker of this refund
-- ARGV     units, seconds that the marker lives (longer than the counters)
-- RETURNS  1 where units were given back, else 0
-- WHY      The caller records the refund only afterwards and may die in between, so it asks
--          again: the marker makes the second asking harmless. Counters that have expired need no refund.

local units = tonumber(ARGV[1])
if not redis.call('SET', KEYS[2], units, 'NX', 'EX', ARGV[2]) then
    return 0
end
local used = tonumber(redis.call('HGET', KEYS[1], 'n') or '0')
if used < units then
    return 0
end
redis.call('HINCRBY', KEYS[1], 'n', -units)
return 1
