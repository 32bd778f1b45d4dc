package prompt

import "strings"

// Answer is what a person decides about an approval.
type Answer string

// Answers.
const (
	Once    Answer = "once"
	Session Answer = "session" // and the like for as long as the session lives
	Always  Answer = "always"
	Reject  Answer = "reject"
)

// Approval is something that a person shall allow.
type Approval struct {
	ID      int
	Title   string   // who asks for what
	Details []string // the command, for instance
}

// answers are the panel's rows, by key 1 to 4.
var answers = []struct {
	answer Answer
	label  string
}{
	{Once, "yes, once"}, {Session, "yes, for this session"}, {Always, "yes, always"}, {Reject, "no, and say why"},
}

// asked is an approval that waits for its answer.
type asked struct {
	Approval
	at     int   // the chosen row
	turned bool  // the person turned to it from a line half typed
	reason *line // why it is rejected, while that is typed
}

// Ask shows an approval; several wait in line.
func (p *Prompt) Ask(a Approval) { p.approvals = append(p.approvals, &asked{Approval: a}) }

// Settled takes an approval away that was answered elsewhere.
func (p *Prompt) Settled(id int) {
	for i, a := range p.approvals {
		if a.ID == id {
			p.approvals = append(p.approvals[:i:i], p.approvals[i+1:]...)
			return
		}
	}
}

// answering says that keys go to the panel. Shell mode comes first; and so does a line that
// is half typed: what its typist means as text must allow nothing.
func (p *Prompt) answering() bool {
	return len(p.approvals) > 0 && !p.shell && (p.line.text == "" || p.approvals[0].turned)
}

// turn goes from the line to the approval.
func (p *Prompt) turn() {
	if len(p.approvals) > 0 {
		p.approvals[0].turned = true
	}
}

// editing is the line that is typed into.
func (p *Prompt) editing() *line {
	if p.answering() && p.approvals[0].reason != nil {
		return p.approvals[0].reason
	}
	return &p.line
}

func (p *Prompt) approvalKey(name, text string) []Action {
	a := p.approvals[0]
	if a.reason != nil {
		return p.reasonKey(a, name, text)
	}
	switch name {
	case "1", "2", "3", "4":
		return p.pick(a, int(name[0]-'1'))
	case "Enter":
		return p.pick(a, a.at)
	case "Esc":
		return p.answer(a, Reject, "")
	case "Up", "C-p", "Left", "Backtab":
		a.at = (a.at + len(answers) - 1) % len(answers)
	case "Down", "C-n", "Right", "Tab":
		a.at = (a.at + 1) % len(answers)
	case "!":
		p.shell = true // to look at something before one answers
	case "PageUp":
		p.out.scrollBy(10)
	case "PageDown":
		p.out.scrollBy(-10)
	}
	return nil
}

func (p *Prompt) pick(a *asked, at int) []Action {
	a.at = at
	if answers[at].answer == Reject {
		a.reason = &line{}
		return nil
	}
	return p.answer(a, answers[at].answer, "")
}

// reasonKey edits the reason. Esc goes back to the answers.
func (p *Prompt) reasonKey(a *asked, name, text string) []Action {
	switch {
	case name == "Enter":
		return p.answer(a, Reject, strings.TrimSpace(a.reason.pastes.expand(a.reason.text)))
	case name == "Esc":
		a.reason = nil
	case text != "":
		a.reason.save(true)
		a.reason.insert(text)
	default:
		a.reason.apply(name)
	}
	return nil
}

func (p *Prompt) answer(a *asked, answer Answer, why string) []Action {
	p.Settled(a.ID)
	return []Action{{Kind: Reply, ID: a.ID, Answer: answer, Text: why}}
}
