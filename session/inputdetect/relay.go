package inputdetect

// promptingRelays may prompt before they relay, mostly for a password.
var promptingRelays = newSet("ssh", "sudo", "su", "doas", "docker", "podman", "kubectl", "telnet", "machinectl", "systemd-run")

// multiplexers draw the relayed program themselves: their alternate screen does not mean one of that program.
var multiplexers = newSet("tmux: client", "screen")

// shouldProbeRelayed reports whether the program behind a relay determines the verdict.
func shouldProbeRelayed(f *Evidence) bool {
	r := &f.Probe
	if len(r.Relayed) == 0 || f.Shell == ShellPrompt || f.promptsItself() {
		return false
	}
	return relayPrograms[r.Program] || !f.AltScreen // otherwise it is a full-screen program itself
}

// promptsItself reports whether the relay itself prompts. Then it reads lines; it reads keys while it relays.
func (f *Evidence) promptsItself() bool {
	r := &f.Probe
	return r.State == Reading && f.Modes != nil && f.Modes.Canonical && r.TID == r.PID && promptingRelays[r.Program]
}

// relayedVerdict classifies the programs behind a relay. If there are several terminals, the visible one is unknown:
// all of them must wait, or the text at the cursor must be a question.
func relayedVerdict(f *Evidence) Verdict {
	var best, least Verdict
	for i := range f.Probe.Relayed {
		inner := *f
		b := &f.Probe.Relayed[i]
		inner.Probe, inner.Modes, inner.Leader = b.Probe, b.Modes, 0
		inner.Shell, inner.HasNewPrompt = ShellUnknown, false
		if multiplexers[f.Probe.Program] {
			inner.AltScreen = b.Modes != nil && !b.Modes.Canonical && !shells[b.Probe.Program]
		}
		v := Classify(inner)
		if i == 0 || verdictRank(v) > verdictRank(best) {
			best = v
		}
		if i == 0 || verdictRank(v) < verdictRank(least) {
			least = v
		}
	}
	v := best
	if verdictRank(least) != verdictRank(best) && !isPromptLine(f.Line) {
		v = least
	}
	v.Reason = "behind " + f.Probe.Program + ": " + v.Reason
	return v
}

// verdictRank orders verdicts: none, a shell's prompt, input.
func verdictRank(v Verdict) int {
	switch {
	case v.NeedsInput:
		return 2
	case v.Kind == Prompt:
		return 1
	}
	return 0
}

// isPromptLine reports whether a line matches a phrase.
func isPromptLine(line string) bool {
	_, found := findPhrase(lineEnd(line))
	return found
}
