package config

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/notify/webhook"
)

// Hook is an entry of [[hooks]]: an action on events.
type Hook struct {
	Name    string
	On      []string      // names of events, from HookEvents
	Session []string      // patterns of session names, one of which must match; empty: any
	Label   []string      // KEY or KEY=VALUE, all of which the session must have; empty: any
	Run     []string      // argv
	Webhook string        // URL to post to, instead of Run
	Format  string        // of posted data
	Brief   bool          // posts omit commands and prompts: notify.details
	Every   time.Duration // minimum interval of runs; 0: no limit
	Timeout time.Duration // bound of a run
}

// HookEvent is a kind of event for hooks.
type HookEvent struct {
	Name, Help string
	Kinds      []string // kinds of completions, which wait for the daemon; empty: an event that a stopped daemon misses
}

// HookEvents lists the events for hooks.
var HookEvents = []HookEvent{
	{"exit", "a session's process ended, however", []string{"session"}},
	{"command", "a shell's command ended", []string{"command"}},
	{"job", "a job (`exec`, `run`, an agent's call) ended", []string{"job"}},
	{"finished", "one of these three ended with status 0; a job and its command count once", []string{"session", "command", "job"}},
	{"failed", "one of these three ended with a non-zero status, by a signal, or was lost; a job and its command count once", []string{"session", "command", "job"}},
	{"lost", "one of these three is not known to have ended: the machine went down, or what held it", []string{"session", "command", "job"}},
	{"input", "a program needs input", []string{"input"}},
	{"approval", "approval by a user is required", []string{"approval"}},
	{"new", "a session was made", nil},
	{"bell", "a session's bell rang", nil},
	{"agent", "the state of a coding agent changed", nil},
}

// HookKeys lists the keys of [[hooks]].
var HookKeys = []ListKey{
	{"name", "text", "of the hook, 1 to 50 letters, digits, - _ and ."},
	{"on", "text or list of texts", "events it is run for, of the table below"},
	{"run", "list of texts", "program and arguments, as in `[\"notify-send\", \"done\"]`"},
	{"webhook", "text", "URL (http or https) to post it to, instead of `run`"},
	{"format", strings.Join(webhook.Formats, ", "), "how it is put for the webhook, as `notify.format`. Without: auto"},
	{"session", "text or list of texts", "only of sessions whose name fits one of these, as in `\"build-*\"`"},
	{"label", "text or list of texts", "only of sessions with these labels, as in `\"project=web\"`, or `\"project\"` for any value"},
	{"every", "a time", "at most one run per interval; further events are skipped and counted. Default: no limit"},
	{"timeout", "a time, 1s to 1h", "how long a run may take; then it is ended and has failed. Without: 1m"},
}

// Bounds of hooks.
const (
	// DefaultHookTimeout bounds a hook's run without a configured timeout.
	DefaultHookTimeout = time.Minute
	maxHookTimeout     = time.Hour
	maxHookEvery       = 365 * 24 * time.Hour
	maxHookName        = 50 // bytes
	maxHooks           = 100
)

// hookDecoder collects [[hooks]].
type hookDecoder struct {
	list      []Hook
	positions []map[string]Place // positions of each hook's keys; "": of the hook
}

// readItem reads a key of a hook.
func (h *hookDecoder) readItem(d *decoder, it *tomldoc.Item) {
	if len(it.Path) < 3 {
		d.addProblem(it.At, "hooks", "hooks are sections; write [[hooks]]")
		return
	}
	n, err := strconv.Atoi(it.Path[1])
	key := strings.Join(it.Path[2:], ".")
	if err != nil || len(it.Path) != 3 || !slices.Contains(hookKeyNames(), key) {
		d.addProblem(it.At, "hooks."+key, "no such key%s; [[hooks]] has %s", suggest(key, hookKeyNames()), strings.Join(hookKeyNames(), ", "))
		return
	}
	for len(h.list) <= n {
		h.list, h.positions = append(h.list, Hook{Timeout: DefaultHookTimeout}), append(h.positions, map[string]Place{"": it.At})
	}
	h.positions[n][key] = it.ValuePos
	to := &h.list[n]
	switch key {
	case "name":
		err = setString(it.Data, &to.Name)
	case "on":
		to.On, err = stringOrList(it.Data)
	case "run":
		to.Run, err = stringList(it.Data)
	case "webhook":
		err = setString(it.Data, &to.Webhook)
	case "format":
		err = setString(it.Data, &to.Format)
	case "session":
		to.Session, err = stringOrList(it.Data)
	case "label":
		to.Label, err = stringOrList(it.Data)
	case "every":
		to.Every, err = durationOf(it.Data, 0, maxHookEvery)
	case "timeout":
		to.Timeout, err = durationOf(it.Data, time.Second, maxHookTimeout)
	}
	if err != nil {
		d.addProblem(it.ValuePos, "hooks."+key, "found %s, %v", tomldoc.TypeName(it.Data), err)
		h.positions[n]["wrong."+key] = it.ValuePos
	}
}

// hookKeyNames returns the names of HookKeys.
func hookKeyNames() []string {
	var names []string
	for _, k := range HookKeys {
		names = append(names, k.Name)
	}
	return names
}

// hookEventNames returns the names of HookEvents.
func hookEventNames() []string {
	var names []string
	for _, e := range HookEvents {
		names = append(names, e.Name)
	}
	return names
}

// stringOrList returns a list of texts; a single text is a list of one.
func stringOrList(data any) ([]string, error) {
	if one, ok := data.(string); ok {
		return []string{one}, nil
	}
	return stringList(data)
}

// durationOf parses a duration within bounds.
func durationOf(data any, least, most time.Duration) (time.Duration, error) {
	text, ok := data.(string)
	if !ok {
		return 0, errors.New(`want a time, as in "30s"`)
	}
	t, err := ParseDuration(text)
	if err == nil && (t < least || t > most) {
		err = fmt.Errorf("want %s to %s", FormatDuration(least), FormatDuration(most))
	}
	return t, err
}

// checkAll checks the hooks as a whole and stores them.
func (h *hookDecoder) checkAll(d *decoder) {
	if len(h.list) > maxHooks {
		d.addProblem(h.positions[maxHooks][""], "hooks", "there are %d hooks; at most %d are possible", len(h.list), maxHooks)
	}
	var names []string
	for i := range h.list {
		h.checkHook(d, i, names)
		names = append(names, h.list[i].Name)
	}
	if d.file.Settings.Hooks = h.list; len(h.list) > 0 {
		d.file.positions["hooks"] = h.positions[0][""]
	}
}

// checkHook checks a hook; before are the names of previous hooks.
func (h *hookDecoder) checkHook(d *decoder, i int, before []string) {
	one, at := &h.list[i], h.positions[i]
	wrong := func(key, format string, args ...any) {
		if _, reported := at["wrong."+key]; reported {
			return
		}
		place, given := at[key]
		if !given {
			place = at[""]
		}
		d.addProblem(place, "hooks."+key, format, args...)
	}
	switch {
	case one.Name == "":
		wrong("name", `a hook needs a name, as in name = "desktop"`)
	case len(one.Name) > maxHookName || strings.Trim(one.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "":
		wrong("name", "%q is no name of a hook; use 1 to %d letters, digits, - _ and .", one.Name, maxHookName)
	case slices.Contains(before, one.Name):
		wrong("name", "the name %q comes twice", one.Name)
	}
	if len(one.On) == 0 {
		wrong("on", "missing events; known: %s", strings.Join(hookEventNames(), ", "))
	}
	for _, e := range one.On {
		if !slices.Contains(hookEventNames(), e) {
			wrong("on", "no event %q%s; there are %s", e, suggest(e, hookEventNames()), strings.Join(hookEventNames(), ", "))
		}
	}
	h.checkAction(i, wrong)
	for _, word := range one.Run {
		if strings.ContainsRune(word, 0) {
			wrong("run", "a program's arguments have no NUL")
		}
	}
	for _, p := range one.Session {
		if _, err := path.Match(p, ""); err != nil {
			wrong("session", "%q is no pattern of names; * is any text, ? any character", p)
		}
	}
	for _, l := range one.Label {
		if key, _, _ := strings.Cut(l, "="); key == "" {
			wrong("label", "%q is no label; write KEY=VALUE, or KEY for any value", l)
		}
	}
}

// checkAction checks the action of a hook.
func (h *hookDecoder) checkAction(i int, wrong func(key, format string, args ...any)) {
	one, at := &h.list[i], h.positions[i]
	_, posts := at["webhook"]
	_, timed := at["timeout"]
	switch _, runs := at["run"]; {
	case posts && runs:
		wrong("webhook", "it has something to run and somewhere to post; make it two hooks")
	case posts && timed:
		wrong("timeout", "what is posted is tried for %s, and again later; leave it out", webhook.Timeout)
	case posts:
		if err := webhook.CheckURL(one.Webhook); err != nil {
			wrong("webhook", "it is %v", err)
		}
	case len(one.Run) == 0 || one.Run[0] == "":
		wrong("run", `it has nothing to run; give a program and its arguments, as in run = ["notify-send", "done"], or a webhook = "https://…"`)
	}
	if _, hasFormat := at["format"]; hasFormat && (!posts || !slices.Contains(webhook.Formats, one.Format)) {
		wrong("format", "want one of %s, for a webhook only", strings.Join(webhook.Formats, ", "))
	}
}

// Kinds returns the completion kinds of the hook's events.
func (h *Hook) Kinds() []string {
	var kinds []string
	for _, e := range HookEvents {
		if slices.Contains(h.On, e.Name) {
			kinds = append(kinds, e.Kinds...)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// AppliesTo reports whether the hook is for a session with a name and labels; both are empty without a session.
func (h *Hook) AppliesTo(name string, labels map[string]string) bool {
	for _, l := range h.Label {
		key, value, valued := strings.Cut(l, "=")
		if has, ok := labels[key]; !ok || valued && has != value {
			return false
		}
	}
	if len(h.Session) == 0 {
		return true
	}
	return slices.ContainsFunc(h.Session, func(p string) bool {
		fits, _ := path.Match(p, name) // the pattern is valid
		return fits
	})
}
