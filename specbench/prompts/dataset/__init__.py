"""A user's file of prompts: `lines` reads its values, `shapes` tells what each is, `survey` measures all, `sample` keeps some."""
