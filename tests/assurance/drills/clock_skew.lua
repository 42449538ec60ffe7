-- stepped: set the clock that the scripts of this store see, and let keys expire as such a step makes them.
--
-- KEYS[1]  where the scripts of the drill find how many seconds the clock is ahead
-- ARGV     seconds that the clock is ahead from now on
-- RETURNS  seconds that it has stepped
-- WHY      A key's expiry is a moment: a clock that steps ahead brings it nearer, one that steps back moves it away.

local step = tonumber(ARGV[1]) - tonumber(redis.call('GET', KEYS[1]) or '0')
for _, key in ipairs(redis.call('KEYS', '*')) do
    local left = redis.call('PTTL', key)
    if left > 0 then
        redis.call('PEXPIRE', key, left - step * 1000)
    end
end
redis.call('SET', KEYS[1], ARGV[1])
return step
