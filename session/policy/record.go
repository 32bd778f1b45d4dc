package policy

import "strings"

// record notes a command with its verdict.
func (w *walk) record(c Command) {
	if c.Verdict == Ask && w.engine.exactly(&c, w.cwd) {
		c.Verdict = Allow
	}
	if c.Verdict == Deny && w.refused == nil {
		denied := c
		w.refused = &denied
	}
	if w.quiet && c.Verdict == Deny {
		c.Verdict = Ask
	}
	if c.Risk == "" {
		c.Risk = pseudoRisk(&c)
	}
	w.risky = larger(w.risky, c.Risk)
	shownArgv := make([]string, len(c.Argv))
	for i, a := range c.Argv {
		shownArgv[i] = shown.Replace(a)
	}
	c.Argv = shownArgv
	if c.Verdict == Allow {
		c.Rule, c.Why, c.Instead = "", "", ""
	}
	if w.worst == nil || c.Verdict > w.worst.Verdict {
		w.worst = &c
	}
	if len(w.commands) < MaxCommands {
		w.commands = append(w.commands, c)
	}
}

// unknown notes something that cannot be judged.
func (w *walk) unknown(argv []string, why string) {
	c := Command{Argv: argv}
	if w.engine.preset != Off || w.engine.denies {
		w.ask(&c, "unknown", why)
		c.Instead = "write out what is to run"
	}
	w.record(c)
}

// ask raises a verdict to Ask; deny to Deny. The built-in denials do not count in the preset Off.
func (w *walk) ask(c *Command, rule, why string) {
	if strings.HasPrefix(rule, "hard:") && w.engine.preset == Off || c.Verdict >= Ask {
		return
	}
	c.Verdict, c.Rule, c.Why = Ask, rule, why
}

func (w *walk) deny(c *Command, rule, why, instead string) {
	if strings.HasPrefix(rule, "hard:") && w.engine.preset == Off || c.Verdict >= Deny {
		return
	}
	c.Verdict, c.Rule, c.Why, c.Instead = Deny, rule, why, instead
}

// asksOfFiles reports whether reading secrets and writing files is asked about.
func (e *Engine) asksOfFiles() bool { return e.preset == ReadOnly || e.preset == Listed }
