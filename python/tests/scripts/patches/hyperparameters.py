UNITS = 25
ACT = 'relu'
OPTIMIZER = 'adam'
LOSS = 'mse'
EPOCHS = 3
