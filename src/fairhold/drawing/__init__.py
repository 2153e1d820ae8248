"""Pictures of plans: SVG, drawn from a plan and a state; the same ones give the same bytes (`fairhold plan draw`)."""
