package expect

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// FEATURES: R50, R51, R54
func TestLoadRules(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"list", `
- text: "Name: "
  reply: bob
- regexp: '(?i)password.*: $'
  on: prompt
  reply: {secret: "env:PW", enter: true}
  max: 3
  timeout: 10s
`, `{"Ordered":false,"Rules":[` +
			`{"text":"Name: ","reply":[{"kind":"text","value":"bob"},{"kind":"keys","value":"\u003cEnter\u003e"}]},` +
			`{"regexp":"(?i)password.*: $","on":"prompt","reply":[{"kind":"secret","value":"env:PW"},{"kind":"keys","value":"\u003cEnter\u003e"}],"max":3,"timeout_ns":10000000000}]}`},
		{"ordered, with a region and a list of replies", `
ordered: true
rules:
  - text: Go
    on: screen
    region: {top: 2, bottom: 3}
    reply: [{keys: <Up>}, {wait: 1s}, {line: ""}]
    cooldown: 1m
    name: go
`, `{"Ordered":true,"Rules":[{"name":"go","text":"Go","on":"screen","region":{"top":2,"bottom":3},` +
			`"reply":[{"kind":"keys","value":"\u003cUp\u003e"},{"kind":"wait","wait_ns":1000000000},{"kind":"keys","value":"\u003cEnter\u003e"}],"cooldown_ns":60000000000}]}`},
		{"unknown key", "- txt: a\n  reply: b\n", `1:3: error: unknown key "txt"; did you mean "text"?`},
		{"no reply", "- text: a\n", `1:3: error: reply is missing`},
		{"two replies in one", "- text: a\n  reply: {line: x, keys: y}\n", `2:26: error: a reply does one thing; write a list of several`},
		{"no such reply", "- text: a\n  reply: {lin: x}\n", `2:11: error: unknown key "lin"; did you mean "line"?`},
		{"regexp", "- regexp: '('\n  reply: b\n", "1:3: error: error parsing regexp: missing closing ): `(`"},
		{"secret", "- text: a\n  reply: {secret: hunter2}\n", `1:3: error: reply 1: a secret needs a reference`},
		{"nothing", "[]", "rules: list is empty"},
		{"scalar", "x", `a list is needed here, not "x"`},
		{"no rules", "ordered: true", "rules is missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, problems := LoadRules([]byte(tt.src))
			got, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if len(problems) > 0 {
				got = []byte(fmt.Sprint(problems))
			}
			if !strings.Contains(string(got), tt.want) {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// FuzzLoadRules loads mutated rules.
func FuzzLoadRules(f *testing.F) {
	f.Add([]byte("- text: a\n  reply: [{keys: <Up>}, {wait: 1s}]\n  region: {top: 1}\n"))
	f.Add([]byte("ordered: true\nrules: &x [{regexp: 'a(b)', reply: $1}]\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		r, problems := LoadRules(src)
		if len(problems) == 0 && len(r.Rules) == 0 {
			t.Fatal("neither rules nor problems")
		}
	})
}
