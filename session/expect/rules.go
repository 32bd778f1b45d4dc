package expect

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/longterm-dev/longterm/session/respond"
)

// Rules is the content of a file of response rules.
type Rules struct {
	Ordered bool // respond.Set.Ordered
	Rules   []respond.Rule
}

// ruleKeys are the keys of a rule.
var ruleKeys = []string{"name", "text", "regexp", "on", "region", "reply", "max", "timeout", "cooldown", "force", "after"}

// replyKeys are the kinds of replies.
var replyKeys = []string{"text", "line", "keys", "secret", "hook", "fail", "wait"}

// LoadRules loads a list of rules, or a mapping of rules and ordered, and returns its problems.
func LoadRules(src []byte) (Rules, []Problem) {
	d := &decoder{opts: &LoadOptions{}, defined: make(map[string]bool), script: &Script{}}
	var r Rules
	if root := d.parse(src); root != nil {
		list := d.resolve(root)
		if list.Kind == yaml.MappingNode {
			f := d.fields(root, "rules", "ordered")
			if f["ordered"] != nil {
				r.Ordered = d.boolean(f["ordered"])
			}
			if list = f["rules"]; list == nil {
				d.errorf(root, "rules is missing")
				list = &yaml.Node{Kind: yaml.SequenceNode}
			}
		}
		for _, n := range d.list(list) {
			r.Rules = append(r.Rules, d.rule(d.resolve(n)))
		}
		if len(r.Rules) == 0 && len(d.problems) == 0 {
			d.errorf(root, "rules: list is empty")
		}
	}
	sortProblems(d.problems)
	return r, d.problems
}

// rule decodes a response rule.
func (d *decoder) rule(n *yaml.Node) respond.Rule {
	had := len(d.problems)
	f := d.fields(n, ruleKeys...)
	var r respond.Rule
	texts := map[string]*string{"name": &r.Name, "text": &r.Text, "regexp": &r.Regexp, "on": (*string)(&r.On)}
	for key, to := range texts {
		if f[key] != nil {
			*to = d.scalar(f[key])
		}
	}
	for key, to := range map[string]*time.Duration{"timeout": &r.Timeout, "cooldown": &r.CoolDown} {
		if f[key] != nil {
			*to = d.duration(f[key])
		}
	}
	for key, to := range map[string]*bool{"force": &r.Force, "after": &r.AfterPrevious} {
		if f[key] != nil {
			*to = d.boolean(f[key])
		}
	}
	if f["max"] != nil {
		r.Max = d.number(f["max"])
	}
	if f["region"] != nil {
		r.Region = d.region(f["region"])
	}
	if f["reply"] == nil {
		d.errorf(n, "reply is missing")
	} else {
		r.Reply = d.replies(f["reply"])
	}
	if len(d.problems) == had {
		if err := (respond.Set{Rules: []respond.Rule{r}}).Check(); err != nil {
			d.errorf(n, "%v", unwrapRule(err))
		}
	}
	return r
}

// unwrapRule removes the rule's number from an error, as the message has its position.
func unwrapRule(err error) error {
	if j, ok := err.(interface{ Unwrap() []error }); ok && len(j.Unwrap()) == 1 {
		err = j.Unwrap()[0]
	}
	if r, ok := err.(*respond.RuleError); ok {
		return r.Err
	}
	return err
}

// region decodes a region of the screen.
func (d *decoder) region(n *yaml.Node) *respond.Region {
	f := d.fields(n, "top", "bottom", "left", "right")
	var g respond.Region
	for key, to := range map[string]*int{"top": &g.Top, "bottom": &g.Bottom, "left": &g.Left, "right": &g.Right} {
		if f[key] != nil {
			*to = d.number(f[key])
		}
	}
	return &g
}

// replies decodes a reply or a list of them. A plain text is typed as a line.
func (d *decoder) replies(n *yaml.Node) (all []respond.Reply) {
	n = d.resolve(n)
	if n.Kind != yaml.SequenceNode {
		return d.reply(n)
	}
	for _, item := range n.Content {
		all = append(all, d.reply(d.resolve(item))...)
	}
	return all
}

// enterReply presses Enter.
var enterReply = respond.Reply{Kind: respond.ReplyKeys, Value: "<Enter>"}

// reply decodes a reply, with Enter after it if requested.
func (d *decoder) reply(n *yaml.Node) []respond.Reply {
	if n.Kind == yaml.ScalarNode {
		return lineReplies(d.scalar(n))
	}
	f := d.fields(n, append([]string{"enter"}, replyKeys...)...)
	var all []respond.Reply
	for _, key := range replyKeys {
		v := f[key]
		switch {
		case v == nil:
			continue
		case len(all) > 0:
			d.errorf(v, "a reply does one thing; write a list of several")
			return nil
		case key == "wait":
			all = []respond.Reply{{Kind: respond.ReplyWait, Wait: d.duration(v)}}
		case key == "line":
			all = lineReplies(d.scalar(v))
		default:
			all = []respond.Reply{{Kind: respond.ReplyKind(key), Value: d.scalar(v)}}
		}
	}
	if all == nil {
		d.errorf(n, "a reply is one of %v", replyKeys)
	}
	if f["enter"] != nil && d.boolean(f["enter"]) {
		all = append(all, enterReply)
	}
	return all
}

// lineReplies returns the replies that type a text and press Enter.
func lineReplies(text string) []respond.Reply {
	if text == "" {
		return []respond.Reply{enterReply}
	}
	return []respond.Reply{{Kind: respond.ReplyText, Value: text}, enterReply}
}
