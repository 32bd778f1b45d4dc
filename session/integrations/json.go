package integrations

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/integrations/jsontext"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// ours is the name of everything that is put somewhere.
const ours = "longterm"

// server is the entry of the MCP server in a file of JSON.
type server struct {
	path   []string // of the object of servers
	entry  func(Place) any
	schema string // of a file that is made
}

func (s server) install(p Place, old []byte) ([]byte, []string, error) {
	d, err := jsontext.Parse(old)
	if err != nil {
		return nil, nil, err
	}
	at := append(append([]string{}, s.path...), ours)
	if d.Find(at...) != nil {
		return old, []string{"an entry of the name longterm is there and stays as it is"}, nil
	}
	if d.Root() == nil && s.schema != "" {
		if _, err := d.Set(s.schema, "$schema"); err != nil {
			return nil, nil, err
		}
	}
	if _, err := d.Set(s.entry(p), at...); err != nil {
		return nil, nil, err
	}
	return d.Bytes(), nil, nil
}

func (s server) remove(p Place, old []byte) ([]byte, []string, error) {
	d, err := jsontext.Parse(old)
	if err != nil {
		return nil, nil, err
	}
	at := append(append([]string{}, s.path...), ours)
	v := d.Find(at...)
	if v == nil {
		return old, nil, nil
	}
	if !sameButPlace(jsontext.Decode(v), s.entry(p)) {
		return old, []string{entryStays}, nil
	}
	if err := removeAll(d, at); err != nil {
		return nil, nil, err
	}
	if s.schema != "" && len(jsontext.Members(d.Root())) == 1 && d.Find("$schema") != nil {
		return nil, nil, nil
	}
	return left(d), nil, nil
}

const entryStays = "the entry of the name longterm is not what was put in, and stays as it is"

// sameButPlace says that a value is the one that is put in, wherever longterm was then.
func sameButPlace(got, put any) bool {
	b, err := json.Marshal(put)
	var want any
	if err != nil || json.Unmarshal(b, &want) != nil {
		return false
	}
	return reflect.DeepEqual(placeless(got), placeless(want))
}

// placeless is a value with the paths of longterm's executable as its name.
func placeless(v any) any {
	switch v := v.(type) {
	case string:
		if isOurs(v) {
			return ours
		}
		return v
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = placeless(v[i])
		}
		return all
	case map[string]any:
		all := map[string]any{}
		for name := range v {
			all[name] = placeless(v[name])
		}
		return all
	}
	return v
}

// isOurs says that a command is longterm, by its name or its path.
func isOurs(command string) bool {
	return strings.TrimSuffix(command[strings.LastIndexAny(command, `/\`)+1:], ".exe") == ours
}

// removeAll takes a member away, and objects around it that are empty then: a comment is somebody's.
func removeAll(d *jsontext.Document, path []string) error {
	for ; len(path) > 0; path = path[:len(path)-1] {
		for d.Find(path...) != nil { // a name may come twice
			if err := d.Remove(path...); err != nil {
				return err
			}
		}
		v := d.Find(path[:len(path)-1]...)
		if v == nil || len(jsontext.Members(v)) > 0 || jsontext.HasComments(v) {
			return nil
		}
	}
	return nil
}

// left is a file after something was taken from it; nil: nothing is in it any more.
func left(d *jsontext.Document) []byte {
	if v := d.Root(); v == nil || len(jsontext.Members(v)) == 0 && strings.TrimSpace(string(d.Bytes())) == "{}" {
		return nil
	}
	return d.Bytes()
}

// event is an event of a program, and our word for it.
type event struct{ name, word string }

// hookCommand is the line that a hook runs. The command's name may need quotes.
func hookCommand(p Place, word string) string {
	command := p.Command
	if strings.ContainsAny(command, " \t'\"$&;()<>|*?[]`!#~") {
		command = shellquote.Word(command)
	}
	return command + " agent hook " + word
}

// isHook says whether a line is a hook of ours, wherever longterm is in it.
func isHook(p Place, line string) bool {
	command, _, ok := strings.Cut(line, " agent hook ")
	command = strings.Trim(command, `'"`)
	return ok && (isOurs(command) || command == p.Command)
}

// isPutIn says whether a line is one that install writes, wherever longterm was then, and not one that somebody made of it.
func isPutIn(p Place, line string, events []event) bool {
	if !isHook(p, line) {
		return false
	}
	command, word, _ := strings.Cut(line, " agent hook ")
	if strings.ContainsAny(strings.Trim(command, "'"), "'\";&|<>") {
		return false
	}
	return slices.ContainsFunc(events, func(e event) bool { return e.word == word })
}

const hookStays = "a hook of longterm's that is not as it was put in stays as it is"

// hooks are lines run at events, as Claude Code has them and others took over:
// {"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", "command": LINE}]}]}}.
type hooks struct {
	matcher string // that an event needs
	events  []event
}

type hookGroup struct {
	Matcher string       `json:"matcher,omitempty"`
	Hooks   []hookAction `json:"hooks"`
}

type hookAction struct {
	Type    string `json:"type"`
	Command string `json:"command"`
}

func (h hooks) install(p Place, old []byte) ([]byte, []string, error) {
	d, err := jsontext.Parse(old)
	if err != nil {
		return nil, nil, err
	}
	var kept []string
	for _, e := range h.events {
		if len(findHooks(p, d, e.name)) > 0 {
			kept = append(kept, "a hook of "+e.name+" is there and stays as it is")
			continue
		}
		group := hookGroup{h.matcher, []hookAction{{"command", hookCommand(p, e.word)}}}
		if v := d.Find("hooks", e.name); v != nil && !jsontext.IsArray(v) {
			return nil, nil, errors.New("hooks." + e.name + " is no array")
		}
		if err := d.Append(group, "hooks", e.name); err != nil {
			return nil, nil, err
		}
	}
	return d.Bytes(), kept, nil
}

// foundHook is a hook of ours, and its place.
type foundHook struct {
	group, action int
	line          string
}

// findHooks are our hooks of an event, the last first.
func findHooks(p Place, d *jsontext.Document, name string) (all []foundHook) {
	v := d.Find("hooks", name)
	if v == nil {
		return nil
	}
	groups := jsontext.Elements(v)
	for g := len(groups) - 1; g >= 0; g-- {
		group, _ := jsontext.Decode(&groups[g]).(map[string]any)
		actions, _ := group["hooks"].([]any)
		for a := len(actions) - 1; a >= 0; a-- {
			action, _ := actions[a].(map[string]any)
			if line, _ := action["command"].(string); isHook(p, line) {
				all = append(all, foundHook{g, a, line})
			}
		}
	}
	return all
}

func (h hooks) remove(p Place, old []byte) ([]byte, []string, error) {
	d, err := jsontext.Parse(old)
	if err != nil {
		return nil, nil, err
	}
	all := d.Find("hooks")
	if all == nil {
		return old, nil, nil
	}
	var names, kept []string
	for _, m := range jsontext.Members(all) {
		names = append(names, jsontext.Name(&m))
	}
	some := false
	for _, name := range names {
		for _, at := range findHooks(p, d, name) {
			if !isPutIn(p, at.line, h.events) {
				kept = []string{hookStays}
				continue
			}
			some = true
			if err := removeHook(d, name, at.group, at.action); err != nil {
				return nil, nil, err
			}
		}
		if v := d.Find("hooks", name); some && v != nil && jsontext.IsArray(v) && len(jsontext.Elements(v)) == 0 {
			if err := removeAll(d, []string{"hooks", name}); err != nil {
				return nil, nil, err
			}
		}
	}
	if !some {
		return old, kept, nil
	}
	return left(d), kept, nil
}

// removeHook removes an action, with its group if it is the only one.
func removeHook(d *jsontext.Document, name string, group, action int) error {
	list := d.Find("hooks", name)
	members := jsontext.Members(&jsontext.Elements(list)[group])
	for i := range members {
		if jsontext.Name(&members[i]) == "hooks" && len(jsontext.Elements(&members[i].Value)) > 1 {
			return d.RemoveAt(&members[i].Value, action)
		}
	}
	return d.RemoveAt(list, group)
}

// both are two editors of one file.
type both struct{ first, second editor }

func (b both) install(p Place, old []byte) ([]byte, []string, error) {
	now, kept, err := b.first.install(p, old)
	if err != nil {
		return nil, nil, err
	}
	now, more, err := b.second.install(p, now)
	return now, append(kept, more...), err
}

func (b both) remove(p Place, old []byte) ([]byte, []string, error) {
	now, kept, err := b.second.remove(p, old)
	if err != nil || now == nil {
		return nil, kept, err
	}
	now, more, err := b.first.remove(p, now)
	return now, append(kept, more...), err
}
