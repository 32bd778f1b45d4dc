package integrations

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
)

// tomlServer is the entry of the MCP server as a table, [mcp_servers.longterm].
type tomlServer struct{}

var serverTable = []string{"mcp_servers", entryName}

func (tomlServer) install(p Place, old []byte) ([]byte, []string, error) {
	d, err := tomldoc.Parse(old)
	if err != nil {
		return nil, nil, err
	}
	if hasTable(d, serverTable) {
		return old, []string{"an entry of the name longterm is there and stays as it is"}, nil
	}
	table := "[mcp_servers.longterm]\ncommand = " + tomldoc.Quote(p.Command) + "\nargs = [\"mcp\"]\n"
	now, err := appendTables(old, table)
	if err != nil {
		return nil, nil, fmt.Errorf("a table [mcp_servers.longterm] cannot be added (%w); is mcp_servers written as a value? Make it a table", err)
	}
	return now, nil, nil
}

func (tomlServer) remove(p Place, old []byte) ([]byte, []string, error) {
	d, err := tomldoc.Parse(old)
	if err != nil {
		return nil, nil, err
	}
	entry := map[string]any{}
	for i := range d.Items {
		if it := &d.Items[i]; under(it.Path, serverTable) {
			entry[strings.Join(it.Path[len(serverTable):], ".")] = it.Data
		}
	}
	if hasTable(d, serverTable) && !sameButPlace(entry, map[string]any{"command": p.Command, "args": []string{"mcp"}}) {
		return old, []string{entryStays}, nil
	}
	now := cutTables(d, func(h int) bool { return under(d.Headers[h].Path, serverTable) })
	if now, err := tomldoc.Parse(now); err != nil || hasTable(now, serverTable) {
		return nil, nil, fmt.Errorf("the entry mcp_servers.longterm is not a separate table; remove it manually")
	}
	return orNil(now, old), nil, nil
}

// tomlHooks are lines run at events, as [[hooks]].
type tomlHooks struct{ events []event }

func (h tomlHooks) install(p Place, old []byte) ([]byte, []string, error) {
	d, err := tomldoc.Parse(old)
	if err != nil {
		return nil, nil, err
	}
	var kept []string
	text := ""
	for _, e := range h.events {
		if slices.ContainsFunc(tomlActions(d), func(a tomlAction) bool { return a.event == e.name && isHook(p, a.command) }) {
			kept = append(kept, "a hook of "+e.name+" is there and stays as it is")
			continue
		}
		if text != "" {
			text += "\n"
		}
		text += "[[hooks]]\nevent = " + tomldoc.Quote(e.name) + "\ncommand = " + tomldoc.Quote(hookCommand(p, e.word)) + "\n"
	}
	if text == "" {
		return old, kept, nil
	}
	for i := range d.Items { // `hooks = []`, as the program itself writes it
		it := &d.Items[i]
		if list, ok := it.Data.([]any); ok && len(list) == 0 && slices.Equal(it.Path, []string{"hooks"}) && !it.IsInline {
			old = slices.Concat(old[:it.Line], old[tomldoc.EndOfLine(old, it.Raw.To):])
		}
	}
	now, err := appendTables(old, text)
	if err != nil {
		return nil, nil, fmt.Errorf("tables [[hooks]] cannot be added (%w); is hooks written as a value? Make it tables", err)
	}
	return now, kept, nil
}

func (h tomlHooks) remove(p Place, old []byte) ([]byte, []string, error) {
	d, err := tomldoc.Parse(old)
	if err != nil {
		return nil, nil, err
	}
	actions := tomlActions(d)
	var kept []string
	if slices.ContainsFunc(actions, func(a tomlAction) bool { return isHook(p, a.command) && !isPutIn(p, a.command, h.events) }) {
		kept = []string{hookStays}
	}
	now := cutTables(d, func(i int) bool {
		return slices.ContainsFunc(actions, func(a tomlAction) bool { return a.header == i && isPutIn(p, a.command, h.events) })
	})
	if _, err := tomldoc.Parse(now); err != nil {
		return nil, nil, fmt.Errorf("the hooks cannot be taken away: %w", err)
	}
	return orNil(now, old), kept, nil
}

// tomlAction is a table of [[hooks]].
type tomlAction struct {
	event, command string
	header         int
}

func tomlActions(d *tomldoc.Document) (all []tomlAction) {
	for h := range d.Headers {
		if !d.Headers[h].IsArray || !slices.Equal(d.Headers[h].Path, []string{"hooks"}) {
			continue
		}
		a := tomlAction{header: h}
		from, to := d.Headers[h].End, tableEnd(d, h)
		for i := range d.Items {
			it := &d.Items[i]
			if it.Raw.From < from || it.Raw.To > to {
				continue
			}
			switch text, _ := it.Data.(string); it.Path[len(it.Path)-1] {
			case "event":
				a.event = text
			case "command":
				a.command = text
			}
		}
		all = append(all, a)
	}
	return all
}

// tableEnd returns the start of the next table, or the end of the file.
func tableEnd(d *tomldoc.Document, h int) int {
	if h+1 < len(d.Headers) {
		return lineStart(d.Src, d.Headers[h+1].End)
	}
	return len(d.Src)
}

// lineStart returns the start of the line that ends before an offset.
func lineStart(src []byte, end int) int {
	end = max(0, min(end, len(src))-1)
	return bytes.LastIndexByte(src[:end], '\n') + 1
}

func under(path, table []string) bool {
	return len(path) >= len(table) && slices.Equal(path[:len(table)], table)
}

func hasTable(d *tomldoc.Document, table []string) bool {
	return slices.ContainsFunc(d.Headers, func(h tomldoc.Header) bool { return under(h.Path, table) }) ||
		slices.ContainsFunc(d.Items, func(it tomldoc.Item) bool { return under(it.Path, table) })
}

// appendTables adds tables at the end of a file, after an empty line.
func appendTables(old []byte, text string) ([]byte, error) {
	newline := "\n"
	if bytes.Contains(old, []byte("\r\n")) {
		newline = "\r\n"
		text = strings.ReplaceAll(text, "\n", newline)
	}
	now := slices.Clone(old)
	if len(now) > 0 {
		if now[len(now)-1] != '\n' {
			now = append(now, newline...)
		}
		now = append(now, newline...)
	}
	now = append(now, text...)
	_, err := tomldoc.Parse(now)
	return now, err
}

// cutTables takes tables away, each with its values and the empty line before it. Comments behind the values stay.
func cutTables(d *tomldoc.Document, which func(int) bool) []byte {
	now := slices.Clone(d.Src)
	for h := len(d.Headers) - 1; h >= 0; h-- {
		if !which(h) {
			continue
		}
		from, to := lineStart(d.Src, d.Headers[h].End), d.Headers[h].End
		for i := range d.Items {
			if it := &d.Items[i]; it.Raw.From >= to && it.Raw.To <= tableEnd(d, h) {
				to = tomldoc.EndOfLine(d.Src, it.Raw.To)
			}
		}
		if head := bytes.TrimSuffix(now[:from], []byte("\n")); len(head) < from && bytes.HasSuffix(head, []byte("\n")) {
			from = len(head)
		} else if head := bytes.TrimSuffix(now[:from], []byte("\r\n")); len(head) < from && bytes.HasSuffix(head, []byte("\n")) {
			from = len(head)
		}
		now = slices.Concat(now[:from], now[min(to, len(now)):])
	}
	return now
}

// orNil returns a file's content, or nil if nothing is left.
func orNil(now, old []byte) []byte {
	if len(bytes.TrimSpace(now)) == 0 && len(bytes.TrimSpace(old)) > 0 {
		return nil
	}
	return now
}
