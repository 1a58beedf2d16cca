"""Statistics of measurements: fits, shares, intervals and the random draws behind them."""
