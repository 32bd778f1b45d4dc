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

// entryName is the name of each entry that longterm adds to an agent's configuration.
const entryName = "longterm"

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
	at := append(append([]string{}, s.path...), entryName)
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
	at := append(append([]string{}, s.path...), entryName)
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
	return contentOf(d), nil, nil
}

const entryStays = "the entry of the name longterm is not what was put in, and stays as it is"

// sameButPlace reports whether a value equals the installed one, apart from longterm's path.
func sameButPlace(got, put any) bool {
	b, err := json.Marshal(put)
	var want any
	if err != nil || json.Unmarshal(b, &want) != nil {
		return false
	}
	return reflect.DeepEqual(placeless(got), placeless(want))
}

// placeless returns a value with longterm's executable paths replaced by its name.
func placeless(v any) any {
	switch v := v.(type) {
	case string:
		if isOurs(v) {
			return entryName
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

// isOurs reports whether a command is longterm, by name or path.
func isOurs(command string) bool {
	return strings.TrimSuffix(command[strings.LastIndexAny(command, `/\`)+1:], ".exe") == entryName
}

// removeAll removes a member, and then enclosing objects that became empty; a comment keeps an object.
func removeAll(d *jsontext.Document, path []string) error {
	for ; len(path) > 0; path = path[:len(path)-1] {
		for d.Find(path...) != nil { // a name may come twice
			if err := d.Remove(path...); err != nil {
				return err
			}
		}
		v := d.Find(path[:len(path)-1]...)
		if v == nil || len(jsontext.Members(v)) > 0 || jsontext.HasOnlyComments(v) {
			return nil
		}
	}
	return nil
}

// contentOf returns the file after a removal, or nil if it is empty.
func contentOf(d *jsontext.Document) []byte {
	if v := d.Root(); v == nil || len(jsontext.Members(v)) == 0 && strings.TrimSpace(string(d.Bytes())) == "{}" {
		return nil
	}
	return d.Bytes()
}

// event is an event of a program, and our word for it.
type event struct{ name, word string }

// hookCommand returns the line that a hook runs, with the command quoted if needed.
func hookCommand(p Place, word string) string {
	command := p.Command
	if strings.ContainsAny(command, " \t'\"$&;()<>|*?[]`!#~") {
		command = shellquote.Word(command)
	}
	return command + " agent hook " + word
}

// isHook reports whether a line is one of longterm's hooks, whatever its path.
func isHook(p Place, line string) bool {
	command, _, ok := strings.Cut(line, " agent hook ")
	command = strings.Trim(command, `'"`)
	return ok && (isOurs(command) || command == p.Command)
}

// isPutIn reports whether install wrote the line, with any path of longterm, and that it is unchanged since.
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

// findHooks returns longterm's hooks of an event, last first.
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
	return contentOf(d), kept, nil
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

// editorPair applies two editors to one file.
type editorPair struct{ first, second editor }

func (b editorPair) install(p Place, old []byte) ([]byte, []string, error) {
	now, kept, err := b.first.install(p, old)
	if err != nil {
		return nil, nil, err
	}
	now, more, err := b.second.install(p, now)
	return now, append(kept, more...), err
}

func (b editorPair) remove(p Place, old []byte) ([]byte, []string, error) {
	now, kept, err := b.second.remove(p, old)
	if err != nil || now == nil {
		return nil, kept, err
	}
	now, more, err := b.first.remove(p, now)
	return now, append(kept, more...), err
}
