# A task that notices whether another of its kind runs at the same time, and writes down every start and end.
# usage: task.sh FOLDER KEY INDEX [COUNT]; it waits until so many tasks of its KEY have started
name="$1/$2.$3"
echo "$FAIRHOLD_ATTEMPT" >> "$name.starts"
if ! mkdir "$name.running" 2>/dev/null; then
  # The one before may have been killed without a word; it must be dead by now.
  other=$(cat "$name.running/pid" 2>/dev/null)
  if [ -n "$other" ] && [ -e "/proc/$other" ] && grep -q task.sh "/proc/$other/cmdline" 2>/dev/null; then
    echo "$$ beside $other" >> "$1/twice"
  fi
fi
echo $$ > "$name.running/pid"
sleep "0.$(( $$ % 3 + 1 ))"
while [ -n "$4" ] && [ "$(ls "$1" | grep -c "^$2[.].*starts")" -lt "$4" ]; do sleep 0.02; done
echo "$FAIRHOLD_ATTEMPT" >> "$name.done"
rm -rf "$name.running"
