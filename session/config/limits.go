package config

import "fmt"

// docsCallers is the text before the table of callerLimits.
const docsCallers = `
## Defaults by caller

An agent is a caller with ` + "`--agent`, `LONGTERM_AGENT`" + ` or MCP. All others are people and scripts, on a terminal or not.
A flag or a field of the request overrides each default: any positive time, and 0 is no limit.

| what | people and scripts | agents | reason |
|---|---|---|---|
`

// callerLimit is a row of the table of defaults that depend on the caller.
type callerLimit struct {
	name, users string
	key         string // the setting with the agents' default, if any
	fixed       string // the agents' default without a setting, else a text after it
	reason      string
}

// agents returns the cell with the agents' default.
func (l *callerLimit) agents() string {
	if l.key == "" {
		return l.fixed
	}
	return fmt.Sprintf("`%s` (`%s`)%s", keySpecOf(l.key).Default, l.key, l.fixed)
}

// callerLimits are the defaults that depend on the caller.
var callerLimits = []callerLimit{
	{"time limit of `run` and `exec` (`--timeout`)", "none", "exec.timeout", "", "a model that waits cannot act; a user sees what a command does, and a script means it to end by itself"},
	{"time limit of `wait`, `jobs wait` and `expand` (`--timeout`)", "none", "exec.timeout", "", "the same: a wait with a limit returns to the agent, which can wait again"},
	{"time limit without output (`--idle-timeout`)", "none", "exec.idle_timeout", "", "the same; a build or a backup may print nothing for long"},
	{"time limit in the background (`--background`)", "none", "", "24h", "what an agent forgets does not run for ever"},
	{"when a limit is over (`--on-timeout`)", "`run` kills the command, a line of `exec` continues in the background", "", "the same", "a session outlives its callers, a command without session does not"},
	{"time that each step of the kill ladder gets (`--grace`)", "`10s` (`exec.grace`)", "exec.agent_grace", "", "programs save their data first; an agent pays for the time. A step ends early once all processes that handle its signal have exited, and a second Ctrl-C on `run` or `exec` skips it"},
	{"output in an answer (`--max-output`)", "all, up to 16 MiB", "exec.max_output", "", "each byte costs an agent tokens; a script parses all of it"},
	{"time until an MCP call answers (`yield`)", "not used", "", "10 s, at most 45 s; the command continues", "a model can look at the output so far, and clients cancel calls after a minute"},
	{"output in an MCP answer (`max_tokens`)", "not used", "", "2,000 tokens (8,000 bytes), at most 100,000", "a model pays for each token, and `output` reads the rest"},
	{"wait for approvals (`--approval-timeout`)", "none", "", "none; an MCP call answers at once, and the command waits", "people answer when they can; time limits of a command are paused during the wait"},
	{"output of a `run` that failed, or was long", "kept for 24h", "", "the same", "it is what one looks for afterwards; `run --keep` keeps any"},
}
