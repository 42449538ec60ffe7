-- refund_order: refund what an order of a job was charged, once.
--
-- KEYS[1]  the account's counters of the day on which it was charged
-- KEYS[2]  marker of this refund
-- KEYS[3]  marker of the charge, which edge/quota/take.lua writes; it soon expires
-- ARGV     units, seconds that the marker lives (longer than the counters), the tier that refunds
-- RETURNS  1 where this refunder gave the units back, now or when it asked before, else 0
-- WHY      The caller records the refund only afterwards and may die in between, so it asks
--          again: the marker makes the second asking harmless, and tells it what it had done.
--          Counters that have expired need no refund.
--          The charge's marker stays, without units: a refund of the call must not give them back as well.

local units = tonumber(ARGV[1])
local gave = redis.call('GET', KEYS[2])
if gave then
    return gave == ARGV[3] and 1 or 0
end
local used = tonumber(redis.call('HGET', KEYS[1], 'n') or '0')
if used < units then
    redis.call('SET', KEYS[2], 'nothing', 'EX', ARGV[2])
    return 0
end
redis.call('SET', KEYS[2], ARGV[3], 'EX', ARGV[2])
redis.call('HINCRBY', KEYS[1], 'n', -units)
local second = string.match(redis.call('GET', KEYS[3]) or '', '^%d+ (%d+)$')
if second then
    redis.call('SET', KEYS[3], '0 ' .. second, 'KEEPTTL')
    local kept = redis.call('HMGET', KEYS[1], 's', 'b')
    if kept[1] == second and tonumber(kept[2]) >= units then
        redis.call('HINCRBY', KEYS[1], 'b', -units)
    end
end
return 1
