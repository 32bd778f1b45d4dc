package listing

import (
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// Style is the style of a text: parameters of the control sequence SGR (ECMA-48, 8.3.117), or Plain.
type Style string

// The styles of tables. They use the terminal's own palette, so that they fit its background.
const (
	Plain   Style = ""
	Bold    Style = "1"
	Faint   Style = "2"
	Good    Style = "32"   // green: running, succeeded
	Bad     Style = "31"   // red: failed, lost or denied
	Waiting Style = "1;33" // bold yellow: needs the user
	Found   Style = "1;35" // bold magenta: match of a search
)

// Apply returns text in a style.
func (s Style) Apply(text string) string {
	if s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}

// StyleIf returns s if on is set, else Plain.
func StyleIf(on bool, s Style) Style {
	if on {
		return s
	}
	return Plain
}

// AsFaint returns Faint for any text.
func AsFaint(string) Style { return Faint }

// AsBold returns Bold for any text.
func AsBold(string) Style { return Bold }

// StateStyle returns the style of the state of a session or job.
func StateStyle(state string) Style {
	switch {
	case strings.HasPrefix(state, "needs "):
		return Waiting
	case state == "running":
		return Good
	case state == "exited(0)", state == "waiting", state == "background":
		return Faint
	case strings.HasPrefix(state, "exited"), state == "lost", strings.HasPrefix(state, "killed"), state == "refused", state == "denied":
		return Bad
	}
	return Plain
}

// draftMark matches the mark of withDraft.
var draftMark = pattern.Lazy(`( |^)draft(\(\d+\))?$`)

// doingStyle returns the style of the words of Doing.
func doingStyle(doing string) Style {
	doing = draftMark.ReplaceAllString(doing, "")
	switch {
	case strings.HasPrefix(doing, "needs "), doing == "asks for more", strings.HasSuffix(doing, " needs input"):
		return Waiting
	case doing == "quarantined", strings.Contains(doing, " error"), strings.HasPrefix(doing, "error "):
		return Bad
	case doing == "-", doing == "prompt":
		return Faint
	}
	return Plain
}

// RiskStyle returns the style of an approval's risk.
func RiskStyle(risk string) Style {
	return map[string]Style{"low": Good, "medium": Waiting, "high": Bad, "reads": Good, "writes": Good, "network": Waiting, "unknown": Waiting, "privilege": Bad, "destroys": Bad}[risk]
}

// VerdictStyle returns the style of a verdict of the policy.
func VerdictStyle(verdict string) Style {
	return map[string]Style{"allow": Good, "ask": Waiting, "deny": Bad}[verdict]
}

// StatusStyle returns the style of an exit status.
func StatusStyle(status string) Style {
	switch status {
	case "0":
		return Faint
	case "…", "?":
		return Plain
	}
	return Bad
}
