package respond_test

import (
	"fmt"
	"time"

	"github.com/longterm-dev/longterm/session/respond"
)

func ExampleEngine() {
	e, err := respond.New(respond.Set{Rules: []respond.Rule{{
		Regexp: `password for (\w+): $`,
		On:     respond.OnPrompt,
		Reply: []respond.Reply{
			{Kind: respond.ReplySecret, Value: "env:PW"},
			{Kind: respond.ReplyKeys, Value: "<Enter>"},
		},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Now()
	e.SetEcho(now, respond.EchoOff) // the terminal has disabled echo
	e.Output(now, 0, []byte("[sudo] password for bob: "))
	at, _ := e.Next() // when the unfinished line has settled
	for _, a := range e.Tick(at) {
		if a.Kind != respond.ActMatched {
			fmt.Println(a.Kind, a.Value)
		}
	}
	// Output:
	// secret env:PW
	// keys <Enter>
}

func ExampleExpecter() {
	patterns, err := respond.Compile(
		respond.Pattern{Text: "denied"},
		respond.Pattern{Regexp: `welcome, (?P<who>\w+)`},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := respond.NewExpecter(0)
	x.Output(time.Now(), 0, []byte("\x1b[1mwelcome\x1b[m, bob\r\n"))
	found, ok := x.Find(time.Now(), patterns, false)
	fmt.Println(ok, found.Pattern, found.NamedGroups["who"])
	// Output: true 1 bob
}
