//go:build unix

package tmuxcompat

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Options and environments are stored and shown again. Options affect only formats and show-options; environments apply
// to panes that start later.

// scopes returns where to look for an option, nearest first.
func (c *call) scopes(p *pane) []string {
	if p == nil {
		return []string{"g"}
	}
	return []string{"%" + strconv.Itoa(p.Pane), "@" + strconv.Itoa(p.Window), "$" + strconv.Itoa(p.SessionID), "g"}
}

// scope returns the scope that a command's flags select.
func (x *command) scope(p *pane) string {
	all := x.scopes(p)
	switch {
	case x.has('g') || x.has('s') || len(all) == 1:
		return "g"
	case x.has('p'):
		return all[0]
	case x.has('w') || strings.Contains(x.name, "window"):
		return all[1]
	}
	return all[2]
}

func (c *call) optionKey(scope, name string) string { return c.stateKey("option", scope+"/"+name) }

// option returns an option's value for a pane, as formats need it.
func (c *call) option(p *pane, name string) string {
	n, err := c.readState()
	if err != nil {
		return ""
	}
	for _, scope := range c.scopes(p) {
		if value, ok := n.Options[c.optionKey(scope, name)]; ok {
			return value
		}
	}
	return options[name]
}

// target returns the pane of -t. A missing pane is an error only for options that are not global.
func (x *command) target() (*pane, error) {
	p, err := x.pane(x.flag('t'))
	if err != nil && !x.has('g') && !x.has('s') {
		return nil, err
	}
	return p, nil
}

func setOption(x *command) error {
	if len(x.args) == 0 {
		return fail("command %s: too few arguments (need at least 1)", x.name)
	}
	p, err := x.target()
	if err != nil {
		return err
	}
	name, value := x.args[0], ""
	switch known := options[name]; {
	case len(x.args) > 1:
		value = x.args[1]
	case known == "on" || known == "off":
		value = map[string]string{"on": "off", "off": "on"}[cmp.Or(x.option(p, name), known)]
	}
	if x.has('F') {
		value = x.format(value, p)
	}
	key := x.optionKey(x.scope(p), name)
	return x.setStored(key, value, func(old string, is bool) (string, error) {
		switch {
		case is && x.has('o') && !x.has('q'):
			return "", fail("already set: %s", name)
		case is && x.has('o'):
			return old, nil
		case x.has('a'):
			return old + value, nil
		}
		return value, nil
	})
}

// maxOptions limits the stored options and variables, in bytes: every command reads them.
const maxOptions = 256 << 10

// setStored stores a value, or removes it with -u. update returns the new value; is reports whether an old one exists.
func (x *command) setStored(key, value string, update func(old string, is bool) (string, error)) (err error) {
	keepErr := x.saveState(func(n *serverState) {
		old, is := n.Options[key]
		if x.has('u') || x.has('U') {
			delete(n.Options, key)
			return
		}
		if value, err = update(old, is); err != nil {
			return
		}
		size := len(key) + len(value)
		for k, v := range n.Options {
			size += len(k) + len(v)
		}
		if size > maxOptions {
			err = fail("options and environments are larger than %d bytes; take some away with -u", maxOptions)
			return
		}
		if n.Options == nil {
			n.Options = map[string]string{}
		}
		n.Options[key] = value
	})
	return cmp.Or(err, keepErr)
}

// showOptions implements show-options: options that were set, and the values of common ones.
func showOptions(x *command) error {
	p, err := x.target()
	if err != nil {
		if x.has('q') {
			return nil
		}
		return err
	}
	n, err := x.readState()
	if err != nil {
		return err
	}
	scope := x.scope(p)
	if len(x.args) == 0 {
		return x.showAll(n.Options, x.optionKey(scope, ""), scope == "g")
	}
	name := x.args[0]
	value, ok := n.Options[x.optionKey(scope, name)]
	if !ok && !strings.HasPrefix(name, "@") {
		value, ok = x.option(p, name), options[name] != "" || name == "default-command"
	}
	if !ok && x.has('A') {
		value = x.option(p, name)
		ok = value != ""
	}
	if !ok {
		if x.has('q') || x.has('g') && strings.HasPrefix(name, "@") {
			return nil
		}
		return fail("invalid option: %s", name)
	}
	return x.printOption(name, value)
}

func (x *command) printOption(name, value string) error {
	var err error
	switch {
	case x.has('v'):
		_, err = fmt.Fprintln(x.Stdout, value)
	case strings.ContainsAny(value, " \t\"'$;#{}"):
		_, err = fmt.Fprintf(x.Stdout, "%s \"%s\"\n", name, strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`).Replace(value))
	case value == "":
		_, err = fmt.Fprintf(x.Stdout, "%s ''\n", name)
	default:
		_, err = fmt.Fprintln(x.Stdout, name, value)
	}
	return err
}

// showAll prints the options of a scope, by name.
func (x *command) showAll(stored map[string]string, prefix string, known bool) error {
	all := map[string]string{}
	if known {
		maps.Copy(all, options)
	}
	for key, value := range stored {
		if name, ok := strings.CutPrefix(key, prefix); ok {
			all[name] = value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := x.printOption(name, all[name]); err != nil {
			return err
		}
	}
	return nil
}

// options holds the values of options that programs query.
var options = map[string]string{
	"base-index": "0", "pane-base-index": "0", "history-limit": strconv.Itoa(historyLimit), "default-shell": "/bin/sh",
	"default-command": "", "prefix": "C-b", "mouse": "off", "status": "off", "remain-on-exit": "off", "escape-time": "0",
	"automatic-rename": "on", "allow-rename": "off", "default-terminal": "screen", "exit-empty": "on", "focus-events": "off",
	"set-titles": "off", "renumber-windows": "off", "pane-border-status": "off", "mode-keys": "emacs", "extended-keys": "off",
}

// removed is the stored value of a variable that is unset in panes (-r).
const removed = "\x00"

func (x *command) environmentScope() (string, error) {
	if x.has('g') {
		return "g", nil
	}
	name, err := x.session(x.flag('t'))
	if err != nil {
		return "", err
	}
	return "$" + strconv.Itoa(x.inSession(name)[0].SessionID), nil
}

func setEnvironment(x *command) error {
	switch {
	case len(x.args) == 0:
		return fail("command set-environment: too few arguments (need at least 1)")
	case x.args[0] == "":
		return fail("empty variable name")
	case strings.Contains(x.args[0], "="):
		return fail("variable name contains =")
	case len(x.args) == 1 && !x.has('u') && !x.has('r'):
		return fail("no value specified")
	}
	scope, err := x.environmentScope()
	if err != nil {
		return err
	}
	value := removed
	if !x.has('r') && !x.has('u') {
		value = x.args[1]
	}
	if x.has('F') {
		value = x.format(value, x.current())
	}
	return x.setStored(x.stateKey("environment", scope+"/"+x.args[0]), value, func(string, bool) (string, error) { return value, nil })
}

// environment returns the variables that were set for a session's panes, or globally.
func (c *call) environment(scope string) map[string]string {
	all := map[string]string{}
	n, err := c.readState()
	if err != nil {
		return all
	}
	for key, value := range n.Options {
		if name, ok := strings.CutPrefix(key, c.stateKey("environment", scope+"/")); ok {
			all[name] = value
		}
	}
	return all
}

func showEnvironment(x *command) error {
	scope, err := x.environmentScope()
	if err != nil {
		return err
	}
	all := x.environment(scope)
	names := slices.Sorted(maps.Keys(all))
	if len(x.args) > 0 {
		if _, ok := all[x.args[0]]; !ok {
			return fail("unknown variable: %s", x.args[0])
		}
		names = x.args[:1]
	}
	for _, name := range names {
		line := name + "=" + all[name]
		switch value := all[name]; {
		case value == removed && x.has('s'):
			line = "unset " + name + ";"
		case value == removed:
			line = "-" + name
		case x.has('s'):
			line = fmt.Sprintf("%s=\"%s\"; export %s;", name, strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(value), name)
		}
		if _, err := fmt.Fprintln(x.Stdout, line); err != nil {
			return err
		}
	}
	return nil
}
