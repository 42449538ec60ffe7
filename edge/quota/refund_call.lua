-- refund_call: refund one charge of a call that is not counted after all.
--
-- KEYS[1]  the account's counters of the day on which the charge was taken
-- KEYS[2]  marker of that charge; it holds the units and the second in which they were taken
-- RETURNS  { 1 or 0, units used that day, units still used in the second of the charge }
-- WHY      Only a charge whose marker still exists is refunded, and the marker is deleted with it: a refund cannot be
--          had twice, not for a charge that was never taken, and the counter cannot fall below zero.
--          A charge that was refunded and then taken again on another day is not this one.
--          Another second's burst stays as it is: those units were not taken in it, and as many more would pass.

local units, second = string.match(redis.call('GET', KEYS[2]) or '', '^(%d+) (%d+)$')
local kept = redis.call('HMGET', KEYS[1], 'n', 's', 'b')
local used, burst = tonumber(kept[1] or '0'), tonumber(kept[3] or '0')
local given = 0
units = tonumber(units or '0')
local taken_that_day = second and KEYS[1]:match('%d+$') == string.format('%d', math.floor(tonumber(second) / 86400))
if units > 0 and taken_that_day and used >= units then
    redis.call('DEL', KEYS[2])
    used = redis.call('HINCRBY', KEYS[1], 'n', -units)
    if kept[2] == second and burst >= units then
        burst = redis.call('HINCRBY', KEYS[1], 'b', -units)
    end
    given = 1
end
return { given, used, kept[2] == second and burst or 0 }
