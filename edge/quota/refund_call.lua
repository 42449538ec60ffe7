-- refund_call: refund one charge of a call that is not counted after all.
--
-- KEYS[1]  the account's counters of the day on which the charge was taken
-- KEYS[2]  marker of that charge; it holds the units and the second in which they were taken, nothing once refunded
-- ARGV     seconds that the marker lives on
-- RETURNS  { outcome, units used that day, units still used in the second of the charge }
--          outcome: 1 refunded, 2 was refunded before, 0 not refunded: without its marker the charge stays
-- WHY      Only a charge whose marker has units is refunded, and they are taken from it: a refund cannot be had twice,
--          not for a charge that was never taken, and the counter cannot fall below zero.
--          The empty marker tells a refund that is asked for again, as its reply was lost, from one that came too late.
--          A charge that was refunded and then taken again on another day is not this one.
--          Another second's burst stays as it is: those units were not taken in it, and as many more would pass.

local marker = redis.call('GET', KEYS[2])
local units, second = string.match(marker or '', '^(%d+) (%d+)$')
local kept = redis.call('HMGET', KEYS[1], 'n', 's', 'b')
local used, burst = tonumber(kept[1] or '0'), tonumber(kept[3] or '0')
local outcome = marker and 2 or 0
units = tonumber(units or '0')
local taken_that_day = second and KEYS[1]:match('%d+$') == string.format('%d', math.floor(tonumber(second) / 86400))
if units > 0 and taken_that_day and used >= units then
    redis.call('SET', KEYS[2], '', 'EX', ARGV[1])
    used = redis.call('HINCRBY', KEYS[1], 'n', -units)
    if kept[2] == second and burst >= units then
        burst = redis.call('HINCRBY', KEYS[1], 'b', -units)
    end
    outcome = 1
end
return { outcome, used, kept[2] == second and burst or 0 }
