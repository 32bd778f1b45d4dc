//go:build unix

package main

import "github.com/spf13/cobra"

func rmVerb(a *app, c *cobra.Command) {
	var force bool
	c.RunE = func(cmd *cobra.Command, args []string) error {
		for _, ref := range args {
			s, err := a.session(ref)
			if err != nil {
				return err
			}
			if err := s.Remove(cmd.Context(), force); err != nil {
				return err
			}
		}
		return nil
	}
	c.Flags().BoolVarP(&force, "force", "f", false, "end a session that runs")
	a.Done(c)
}
