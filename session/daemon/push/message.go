//go:build unix

package push

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/notify/webhook"
	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// message is what the page's service worker shows.
type message struct {
	Title string `json:"title"`
	Body  string `json:"body,omitempty"`
	Tag   string `json:"tag"`  // a later message with the same tag replaces it
	Hash  string `json:"hash"` // address within the page
	// Buttons answer an entry.
	Buttons []button `json:"buttons,omitempty"`

	items  []string // ids of its entries
	urgent bool
}

// button is an answer that a notification offers.
type button struct {
	Title  string `json:"title"`
	Answer string `json:"answer"` // signed
}

// encode returns a message in the form in which it is sent.
func (m *message) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // it must fit into one record
	err := e.Encode(m)
	return bytes.TrimSpace(b.Bytes()), err
}

// inboxHash is the address of the inbox within the page.
const inboxHash = "#/approvals"

// text returns program text for a notification: on one line, with misleading characters spelled out.
func text(s string, most int) string { return webhook.OneLine(plaintext.Literal(s), most) }

// titles describe the kinds of entries.
var titles = map[string]string{
	api.InboxApproval: "requests approval", api.InboxQuestion: "waits for an answer", api.InboxFailed: "failed", api.InboxFinished: "finished",
	api.InboxMessage: "sent a message", api.InboxAnomaly: "prints what its failures printed",
}

// messageOf returns the message about an entry, without buttons.
func (s *Set) messageOf(it *api.InboxItem, details bool) message {
	m := message{
		Title: text(s.c.Mask(cmp.Or(it.Name, it.Agent, "longterm")), 60) + " " + titles[it.Kind], Tag: it.ID, Hash: inboxHash,
		items: []string{it.ID}, urgent: it.Blocks(),
	}
	if details {
		m.Body = text(s.c.Mask(it.Text), 300)
	}
	if !it.Blocks() && it.Session != "" {
		m.Hash = "#/s/" + it.Session
	}
	return m
}

// summary returns one message about several entries.
func summary(items []api.InboxItem) message {
	m := message{Title: fmt.Sprintf("%d entries in the inbox", len(items)), Tag: "inbox", Hash: inboxHash}
	for i := range items {
		m.items = append(m.items, items[i].ID)
		m.urgent = m.urgent || items[i].Blocks()
	}
	return m
}

// loss finds words of questions whose wrong answer may lose something.
var loss = pattern.Lazy(`(?i)delet|remov|eras|destroy|drop|overwrit|replac|format|wip(e|ing)|discard|purg|prun|forc|reset|revert|uninstall|terminat|kill|shut ?down|reboot|irrevers|permanent|undone|unsaved|lose|lost|production|\bprod\b|publish|deploy|password|passphrase|secret|trust|fingerprint|\broot\b|sudo`)

// choice is an answer of an entry, and its title.
type choice struct{ title, answer string }

// choices returns the answers that a notification may offer: of approvals with low risk, and of questions for yes or no
// that are shown whole and mention no loss. Others are answered in the page, which shows what they are about.
func choices(it *api.InboxItem, shown string, may apitoken.Rights) []choice {
	if !it.Answerable || may&apitoken.Approve == 0 {
		return nil
	}
	switch {
	case it.Kind == api.InboxApproval && it.Risk == "low" && slices.Contains(it.Answers, "once") && slices.Contains(it.Answers, "deny"):
		return []choice{{"Allow once", "once"}, {"Deny", "deny"}}
	case it.Kind == api.InboxQuestion && it.Input == "confirm" && may&apitoken.Type != 0 && slices.Equal(it.Answers, []string{"y", "n"}) &&
		!strings.Contains(shown, "…") && !loss.MatchString(shown):
		return []choice{{"Yes", "y"}, {"No", "n"}}
	}
	return nil
}

// addButtons adds the signed answers of an entry for a subscription.
func (m *message) addButtons(secret []byte, sub *subscription, g *apitoken.Grant, it *api.InboxItem, now time.Time) {
	if sub.Info.Login == "" || m.Body == "" {
		return
	}
	for _, c := range choices(it, m.Body, g.Rights()) {
		m.Buttons = append(m.Buttons, button{c.title, sign(secret, Answer{
			Subscription: sub.Info.ID, Item: it.ID, Since: it.Since.UnixMilli(), Answer: c.answer, Expires: now.Add(answerLifetime).Unix(),
		})})
	}
}
